package probe

import (
	"slices"
	"sync"
	"time"
)

// What one server is asked at the very most. AdGuard Home drops above 20
// queries a second, Pi-hole refuses above 1,000 a minute.
const (
	// BudgetPerSecond is the most probes of one Budget in any second.
	BudgetPerSecond = 15
	// BudgetPerMinute is the most probes of one Budget in any minute.
	BudgetPerMinute = 600
	// urgentPerTwoSeconds bounds what suspicion alone may use. A suspicion that
	// lasts would else spend the minute's share within 40 s and leave every
	// check blind for the next 20; so it never waits for more than a second,
	// and a tenth of the minute is left to the others.
	urgentPerTwoSeconds = 18
	// sparePerSecond is how many may have left in a second if a sign of life is
	// to follow: what is above it belongs to the probes alone.
	sparePerSecond = 12
)

// Budget limits how often one server is asked, over all checks that share it:
// at most 15 probes in any second and 600 in any minute. Checks under
// suspicion go first and the others wait; questions for a sign of life go when
// no probe waits, and leave room for the next. Within each kind, first come is
// first served. It is safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	all     window
	urgent  window
	spare   window
	waiting []*ticket
	timer   *time.Timer
}

// NewBudget returns the budget of one server.
func NewBudget() *Budget {
	return &Budget{
		all: newWindow(
			limit{n: BudgetPerSecond, span: time.Second},
			limit{n: BudgetPerMinute, span: time.Minute},
		),
		urgent: newWindow(limit{n: urgentPerTwoSeconds, span: 2 * time.Second}),
		spare:  newWindow(limit{n: sparePerSecond, span: time.Second}),
	}
}

// ticket is one question's place in the queue.
type ticket struct {
	granted chan struct{} // receives once, when the question may leave
	rank    rank          // guarded by the budget's lock
}

// rank orders the kinds of questions: a higher one goes first.
type rank uint8

// The ranks.
const (
	spare  rank = iota // for a sign of life
	steady             // a probe
	urgent             // a probe of a check under suspicion
)

// ask queues for one probe.
func (b *Budget) ask(suspicious bool) *ticket {
	if suspicious {
		return b.queue(urgent)
	}
	return b.queue(steady)
}

// askSpare queues for one question that is no probe.
func (b *Budget) askSpare() *ticket { return b.queue(spare) }

// queue puts a ticket in.
func (b *Budget) queue(r rank) *ticket {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &ticket{granted: make(chan struct{}, 1), rank: r}
	b.waiting = append(b.waiting, t)
	b.serve(time.Now())
	return t
}

// hurry makes a waiting ticket an urgent one. The timer is right already: an
// urgent ticket goes before others, but not sooner than they could.
func (b *Budget) hurry(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.rank = urgent
}

// cancel takes a ticket out of the queue. A ticket already granted is spent. A
// timer that was set for it finds the next one's time.
func (b *Budget) cancel(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(o *ticket) bool { return o == t })
}

// wake serves the queue when the timer says that somebody may go.
func (b *Budget) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serve(time.Now())
}

// serve grants what may go at now and sets the timer for what may go later.
// The lock is held.
func (b *Budget) serve(now time.Time) {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	for len(b.waiting) > 0 {
		i, at := b.first(now)
		if at.After(now) {
			b.timer = time.AfterFunc(at.Sub(now), b.wake)
			return
		}
		b.grant(i, now)
	}
}

// first returns the index of the ticket that goes next, and when it may.
func (b *Budget) first(now time.Time) (int, time.Time) {
	best, when := -1, time.Time{}
	for i, t := range b.waiting {
		at := b.free(t.rank, now)
		sooner := best < 0 || at.Before(when)
		first := best >= 0 && at.Equal(when) && t.rank > b.waiting[best].rank
		if sooner || first {
			best, when = i, at
		}
	}
	return best, when
}

// free returns when a ticket of the rank may go.
func (b *Budget) free(r rank, now time.Time) time.Time {
	at := b.all.free(now)
	switch r {
	case urgent:
		at = later(at, b.urgent.free(now))
	case spare:
		at = later(at, b.spare.free(now))
	}
	return at
}

// grant lets the ticket at index i go.
func (b *Budget) grant(i int, now time.Time) {
	t := b.waiting[i]
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.all.add(now)
	b.spare.add(now)
	if t.rank == urgent {
		b.urgent.add(now)
	}
	t.granted <- struct{}{}
}
