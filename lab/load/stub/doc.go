// Package stub models how the stub resolvers of client systems ask: whom, how
// often, what they take for an answer, and when they give up.
//
// A stub is a pure state machine. It is told what happened to a lookup (it
// begins, a wait is over, a server answered or refused) and says what to do:
// send to these servers, wait so long, or end with that server's answer. Times
// are given to it; it opens no socket and reads no clock, so it is tested by
// tables and driven by whoever has sockets.
//
// What a real one knows across lookups (which server it settled on, which ones
// it thinks badly of) is state of the Stub, of which every client has its own.
// The models take their laws from the sources that each names; they leave out
// caches, search lists, and the switch to lesser protocol features. What the
// driver does for all of them is asking again over TCP when an answer over UDP
// was truncated.
package stub
