// Package control is how a running agent is talked to: the types of its
// answers, the server on its Unix socket, and the client that the commands
// use. The protocol is HTTP with JSON bodies, so that curl and any HTTP
// library can speak it.
package control
