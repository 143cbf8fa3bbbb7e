// Package conn probes a TCP port by connecting to it.
//
// The kernel accepts a connection in the server's name. So a pass shows that
// somebody listens and has room for one more, and not that he will answer: a
// process that hangs is seen only once its queue of connections is full.
package conn
