package stub

import "time"

// systemd-resolved's constants, from src/resolve/resolved-timeouts.h of systemd
// 256 and later, and the same in resolved-dns-transaction.c before: a lookup has
// 120 s in all and up to 24 attempts, which makes 5 s an attempt over UDP.
const (
	resolvedAttempts = 24
	resolvedWait     = 120 * time.Second / resolvedAttempts
)

// Resolved is systemd-resolved without DNSSEC, as most distributions ship it. It
// asks one server at a time, the same for all lookups, and stays with it until
// it fails; a silence of 5 s, an ICMP error or a REFUSED makes the next one the
// current one for everybody. SERVFAIL is asked again of the same server, once
// as it was and once without EDNS, and then of the next; lookups that a server
// answered badly try each server once (dns_transaction_limited_retry), those
// that meet silence go on for 24 attempts (on_transaction_timeout,
// dns_transaction_process_reply, on_dns_packet in resolved-dns-transaction.c).
// A retry of the same server leaves from the same port (dns_transaction_emit_udp).
// Left out: the fall to TCP of a server that never answered over UDP.
func Resolved() Model {
	return Model{Name: "resolved", Title: "one server for all lookups, the next after 5 s of silence; up to 120 s",
		New: func(servers int) Stub { return &resolved{servers: servers} }}
}

// resolved is one client's systemd-resolved.
type resolved struct {
	servers int
	current int // the scope's server, for all lookups
}

// Next implements Stub.
func (r *resolved) Next(l *Lookup, e Event) Step {
	switch e.Kind {
	case Begin:
		l.server, l.picked, l.attempts = int8(r.current), 1, 1
		return Step{Send: only(r.current), Wait: resolvedWait}
	case Deadline:
		r.leave(l)
		return r.again(l)
	case Answer:
		return r.answer(l, e)
	default:
		l.fail(e.Server)
		return r.limited(l)
	}
}

// answer takes an answer, unless its code says that asking again may help.
func (r *resolved) answer(l *Lookup, e Event) Step {
	asks := 1 // how often one server is asked that answers so
	switch e.Rcode {
	case servFail:
		asks = 3
	case formErr, notImp:
		asks = 2
	case refused:
	default:
		return take(e.Server)
	}
	l.fail(e.Server)
	l.failures++
	if int(l.failures) < asks {
		return r.again(l)
	}
	return r.limited(l)
}

// limited goes on with the next server if there is one that the lookup has not
// tried, and ends it otherwise.
func (r *resolved) limited(l *Lookup) Step {
	if int(l.picked) >= r.servers {
		return l.giveUp()
	}
	r.leave(l)
	return r.again(l)
}

// leave makes the next server the current one, unless somebody else did it
// already.
func (r *resolved) leave(l *Lookup) {
	if int(l.server) == r.current {
		r.current = (r.current + 1) % r.servers
	}
}

// again asks the current server, from the port used before if it is the same.
func (r *resolved) again(l *Lookup) Step {
	if l.attempts >= resolvedAttempts {
		return l.giveUp()
	}
	l.attempts++
	if int(l.server) != r.current {
		l.server, l.failures = int8(r.current), 0
		l.picked++
	}
	return Step{Send: only(r.current), Drop: true, Wait: resolvedWait}
}
