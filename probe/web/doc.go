// Package web probes a page over HTTP and HTTPS.
//
// Every probe makes a connection of its own, so that one which is kept open
// cannot hide a listener that is gone. No proxy is asked, whatever the
// environment says. A page passes by its status and, if one is wanted, by a text
// within the first 5,120 bytes of its body; without one the body is not read, so
// that a page that never ends passes too. Redirects are followed only if that is
// asked for.
//
// With a server name set, the page is asked for under that name (Host, SNI and
// certificate), and the connection still goes to the host of the URL. So an
// address and a name test one box, with no resolver between.
package web
