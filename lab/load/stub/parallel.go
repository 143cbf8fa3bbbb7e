package stub

import "time"

// The waits of Parallel: it sends at 0, 0.5 and 1.5 s and gives up at 3.5 s.
const (
	parallelWait  = 500 * time.Millisecond
	parallelSends = 3
)

// Parallel asks every server at once, again after half a second and doubling,
// and takes the first good answer: the most that a client can do for itself,
// often said to be Apple's way. What Apple's code does is Apple. (musl asks all
// servers at once too, but again only after 2.5 s: src/network/res_msend.c.)
func Parallel() Model {
	return Model{Name: "parallel", Title: "all servers at once, again after 0.5 s and 1 s more; 3.5 s in all",
		New: func(servers int) Stub { return parallel(servers) }}
}

// parallel is the stub of a client with so many servers. It learns nothing.
type parallel int

// Next implements Stub.
func (p parallel) Next(l *Lookup, e Event) Step {
	switch {
	case e.Kind == Begin:
		l.interval = parallelWait
		return p.send(l)
	case e.Kind == Deadline:
		if l.attempts == parallelSends {
			return l.giveUp()
		}
		l.interval *= 2
		return p.send(l)
	case e.Kind == Answer && !rejects(e.Rcode):
		return take(e.Server)
	}
	l.fail(e.Server)
	if l.failed == all(int(p)) {
		return l.giveUp()
	}
	return Step{}
}

// send asks every server that has not failed.
func (p parallel) send(l *Lookup) Step {
	l.attempts++
	return Step{Send: all(int(p)) &^ l.failed, Wait: l.interval}
}
