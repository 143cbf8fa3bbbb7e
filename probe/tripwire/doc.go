// Package tripwire hears that a server's sockets are gone sooner than a probe
// could, so that its check looks now. A trip is no verdict.
//
// A Wire listens to the kernel, which tells of every socket that is destroyed
// (NETLINK_SOCK_DIAG, what `ss -E` prints). It needs no privilege. It hears of
// its own network namespace only; for a server in another, such as a container,
// a Line keeps an idle TCP connection whose end says the same.
//
// Nearly everything the kernel has to tell is of no interest: each client's TCP
// connection and each socket of a busy resolver ends too. So a filter on the
// netlink socket (filter.go) lets pass what has a server's port on this side and
// none on the other: listeners and unconnected UDP sockets. What it drops wakes
// nobody. Messages are read in message.go, which is pure; the socket is in
// socket.go.
package tripwire
