package stub

import "time"

// mDNSResponder's constants, from mDNSMacOSX/mdns_objects/mdns_resolver.c and
// mdns_dns_service.c (macOS 11): the first retransmission comes after a second
// on interfaces that are not cellular, the waits double up to 120 s, two
// unanswered questions make a server unresponsive, and a penalty lasts a minute.
// The daemon itself asks for ever; that getaddrinfo gives up after 30 s is from
// memory.
const (
	appleWait       = time.Second
	appleWaitMax    = 120 * time.Second
	appleUnanswered = 2
	applePenalty    = 60 * time.Second
	applePatience   = 30 * time.Second
)

// Apple is mDNSResponder's querier over UDP. It asks the best server, again from
// the same port, then penalises it for a minute and goes on with the next, and
// hears all that it asked until the end: the first good answer counts, whoever
// sends it. A bad response code makes it ask the next at once. Servers under a
// penalty are asked only when no other is left. Its sockets are not connected,
// so it never learns of ICMP errors.
func Apple() Model {
	return Model{Name: "apple", Title: "the best server at 0 and 1 s, the next at 3 s, hears all; a silent one is left for 60 s",
		New: func(servers int) Stub { return &apple{servers: make([]appleServer, servers)} }}
}

// apple is one client's mDNSResponder.
type apple struct{ servers []appleServer }

// appleServer is what it knows of a server.
type appleServer struct {
	penalty  time.Duration // when it ends; 0: none
	answered time.Duration // latest begin of a lookup that this server answered, plus one
}

// Next implements Stub.
func (a *apple) Next(l *Lookup, e Event) Step {
	switch e.Kind {
	case Begin:
		l.server, l.begun = Nobody, e.Now
		return a.send(l, e.Now)
	case Deadline:
		return a.silence(l, e.Now)
	case Answer:
		s := &a.servers[e.Server]
		s.answered = max(s.answered, l.begun+1)
		if e.Rcode == noError || e.Rcode == nxDomain || e.Rcode == notAuth {
			return take(e.Server)
		}
		return a.bad(l, e)
	case Broken:
		return a.broken(l, e)
	}
	return Step{}
}

// silence is what follows a wait without an answer.
func (a *apple) silence(l *Lookup, now time.Duration) Step {
	if now-l.begun >= applePatience {
		return l.giveUp()
	}
	l.unanswered++
	l.interval = min(l.interval*2, appleWaitMax)
	if l.unanswered >= appleUnanswered {
		if l.lastSend >= a.servers[l.server].answered {
			a.penalise(int(l.server), now)
		}
		l.server = Nobody
	}
	return a.send(l, now)
}

// bad is what follows a response code that is no answer. The first bad answer is
// the result if no server has a better one, but for REFUSED, which any other
// replaces.
func (a *apple) bad(l *Lookup, e Event) Step {
	l.failed |= only(e.Server)
	if l.result == 0 || l.failures == 0 || (l.failures == refused && e.Rcode != refused) {
		l.result, l.failures = int8(e.Server)+1, uint8(min(e.Rcode, 255))
	}
	if e.Rcode == refused {
		a.penalise(e.Server, e.Now)
	}
	if l.failed == all(len(a.servers)) {
		return l.giveUp()
	}
	if e.Server != int(l.server) {
		return Step{}
	}
	l.server = Nobody
	return a.send(l, e.Now)
}

// broken is what follows a connection that failed: the server is penalised and
// another without a penalty asked at once, if there is one.
func (a *apple) broken(l *Lookup, e Event) Step {
	a.penalise(e.Server, e.Now)
	if l.result == 0 {
		l.result = int8(e.Server) + 1
	}
	next := a.best(l.failed, e.Now)
	if e.Server != int(l.server) || next == Nobody || a.servers[next].penalty != 0 {
		return Step{}
	}
	l.server = Nobody
	return a.send(l, e.Now)
}

// send asks the lookup's server, or the best if it has none. The wait begins
// anew with a server that it did not ask before.
func (a *apple) send(l *Lookup, now time.Duration) Step {
	if l.server == Nobody {
		l.server, l.unanswered = int8(a.best(l.failed, now)), 0
		if !l.asked.Has(int(l.server)) {
			l.interval = appleWait
		}
	}
	l.asked |= only(int(l.server))
	l.lastSend = now
	return Step{Send: only(int(l.server)), Wait: min(l.interval, applePatience-(now-l.begun))}
}

// best is the first server without a penalty, else the one whose penalty ends
// first; Nobody if all are left out.
func (a *apple) best(without Set, now time.Duration) int {
	best := Nobody
	for i := range a.servers {
		s := &a.servers[i]
		if s.penalty != 0 && now >= s.penalty {
			s.penalty = 0
		}
		if !without.Has(i) && (best == Nobody || s.penalty < a.servers[best].penalty) {
			best = i
		}
	}
	return best
}

// penalise puts a server behind the others for a while.
func (a *apple) penalise(server int, now time.Duration) {
	a.servers[server].penalty = now + applePenalty
}
