// Package agent is the daemon: it turns what the probes say into what the
// routers hear.
//
// The flow has one direction:
//
//	probe result -> check verdict -> service level -> stance -> link and route
//
// The first two steps are package probe's. The level (level.go) and the
// decision (decide.go) are pure: values in, values out, no clock, socket or
// log. Everything else belongs to one goroutine, the loop in loop.go: it owns
// the state of every service and is the only caller of the methods that write
// links and routes. Whatever happens outside reaches it as an event: a probe's
// report, a link that somebody changed, a peer's new state, a command.
//
// Goroutines: the loop; one runner for each check, and for each service
// address while its link is up (package probe); the link watcher (netlinkx);
// the speaker (bgp); the control socket's server; the log writer, so that a
// blocked disk or pipe never holds up a withdrawal.
package agent
