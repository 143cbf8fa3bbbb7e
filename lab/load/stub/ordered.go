package stub

import "time"

// ordered is the law that most stubs share: the servers in their order, one at
// a time, for some rounds.
type ordered struct {
	servers int
	rounds  int
	// wait is how long server i is waited for.
	wait func(i int) time.Duration
	// deaf stubs hear only the server that they wait for. What another says is
	// kept by the kernel and read when it is that one's turn again.
	deaf bool
	// memory, if set, is told how servers do, and which are worth asking.
	memory *memory
}

// Next implements Stub.
func (o *ordered) Next(l *Lookup, e Event) Step {
	switch e.Kind {
	case Begin:
		l.server = Nobody
		return o.next(l, e.Now)
	case Deadline:
		o.note(l, int(l.server), timedOut, e.Now)
		return o.next(l, e.Now)
	case Answer:
		return o.answer(l, e)
	default:
		return o.refusal(l, e)
	}
}

// answer takes a good answer and leaves a server that rejects.
func (o *ordered) answer(l *Lookup, e Event) Step {
	current := e.Server == int(l.server)
	switch {
	case !current && o.deaf:
		if !rejects(e.Rcode) {
			l.held |= only(e.Server)
		}
		return Step{}
	case rejects(e.Rcode):
		l.fail(e.Server)
		if !current {
			return Step{}
		}
		o.note(l, e.Server, failed, e.Now)
		return o.next(l, e.Now)
	}
	o.note(l, e.Server, succeeded, e.Now)
	return take(e.Server)
}

// refusal leaves a server at once. The deaf ones close all their ports then,
// and what was held is lost.
func (o *ordered) refusal(l *Lookup, e Event) Step {
	l.fail(e.Server)
	if e.Server != int(l.server) {
		return Step{}
	}
	o.note(l, e.Server, failed, e.Now)
	if o.deaf {
		l.held = 0
	}
	s := o.next(l, e.Now)
	s.Drop = o.deaf
	return s
}

// next asks the next server worth asking, or gives up after the last round.
func (o *ordered) next(l *Lookup, now time.Duration) Step {
	usable := all(o.servers)
	if o.memory != nil {
		usable = o.memory.choose(l, now)
	}
	for {
		l.server++
		if int(l.server) == o.servers {
			l.server = 0
			l.round++
		}
		if int(l.round) == o.rounds {
			return l.giveUp()
		}
		if usable.Has(int(l.server)) {
			break
		}
	}
	i := int(l.server)
	if l.held.Has(i) {
		return take(i)
	}
	return Step{Send: only(i), Wait: o.wait(i)}
}

// note tells the memory how a server did.
func (o *ordered) note(l *Lookup, server int, s sample, now time.Duration) {
	if o.memory != nil && l.round == 0 {
		o.memory.add(server, s, now)
	}
}
