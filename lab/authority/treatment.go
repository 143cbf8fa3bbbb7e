package authority

import (
	"sync"
	"time"
)

// Treatment applies one behaviour to the queries of a server that is none of
// this package. The zero value answers all of them well.
type Treatment struct {
	mu        sync.Mutex
	behaviour Behaviour
	passed    limiter
	counts    Counts
}

// Counts say what became of the queries: of all of them, Late were answered
// after a delay, and Failed badly or not at all.
type Counts struct{ Queries, Late, Failed int }

// Set gives the queries to come a behaviour.
func (t *Treatment) Set(b Behaviour) error {
	if err := b.check(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.behaviour = b
	return nil
}

// Next counts a query that came over a transport and says how to treat it.
func (t *Treatment) Next(over string) Behaviour {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.behaviour.drawn(over)
	if b.Rate > 0 && !t.passed.allow(b.Rate, time.Now()) {
		b.Failure = Drop
	}
	t.counts.Queries++
	switch {
	case b.Failure != None:
		t.counts.Failed++
	case b.Delay > 0:
		t.counts.Late++
	}
	return b
}

// Counts are the counts so far.
func (t *Treatment) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}
