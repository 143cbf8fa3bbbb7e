// Package dnsx probes DNS servers over UDP, TCP, TLS and HTTPS and judges their
// answers.
//
// A Prober asks one server one question; a Path asks every service address the
// way a client would. Both open a fresh socket for each probe, so every question
// has a source port and an id of its own, and no answer to an earlier question
// can be taken for one to this. A Flow keeps its port, and asks a server which
// node it is (RFC 5001, RFC 4892) in the ways of identity.go.
//
// The sockets are in udp.go, tcp.go, tls.go (RFC 7858) and https.go (RFC 8484);
// what their errors mean is in errors.go. A certificate that is not right is a
// wrong answer: somebody is there, and no client that looks can use him.
//
// Whether a packet answers the question is in match.go and whether the answer
// is right is in judge.go; both are pure. They follow RFC 1035, RFC 2308
// (negative answers), RFC 6891 (EDNS) and RFC 8914 (extended errors).
package dnsx
