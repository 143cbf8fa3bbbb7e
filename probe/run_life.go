package probe

import (
	"context"
	"time"
)

const (
	// lateFor is for how long after its deadline an answer is awaited.
	lateFor = 5 * time.Second
	// lateMax is how many probes may be awaited so at once.
	lateMax = 64
)

// sight is a sign of life that is no result of a probe.
type sight struct {
	at   time.Time
	what string
	sign int // which of the signs; -1: a late answer
}

// search is the part of a run that looks for signs of life. The owner goroutine
// alone touches it.
type search struct {
	signs   []Sign
	vigil   vigil
	ticket  *ticket // nil: no sign waits for the budget
	sights  chan sight
	waiting chan struct{} // holds one for each late answer that is awaited
}

// newSearch returns the search of a check at the start.
func newSearch(c Check, p Prober) search {
	l := search{sights: make(chan sight), waiting: make(chan struct{}, lateMax)}
	if p, ok := p.(Signer); ok {
		l.signs = p.Signs()
	}
	l.vigil = vigil{signs: len(l.signs), silence: c.Rules.SilentAfter}
	return l
}

// lookDue returns when the next sign of life is to be asked for, and whether
// one is: a probe is late or the silence after one lasts. A refusal needs none.
func (s *run) lookDue() (time.Time, bool) {
	l := &s.search
	// Of one that is known to be late, only what stays out altogether is news.
	late := s.verdict.Level != Slow && s.lateOut()
	silent := !s.verdict.row.silent.IsZero() && s.verdict.row.refused == 0
	if len(l.signs) == 0 || l.ticket != nil || !late && !silent {
		return time.Time{}, false
	}
	return l.vigil.next(s.verdict.LastLife, s.verdict.Level == Dead), true
}

// look asks for the next sign of life, once the budget allows.
func (s *run) look(now time.Time) {
	l := &s.search
	i, _ := l.vigil.take(s.verdict.LastLife, now)
	if s.budget != nil && l.signs[i].Paid {
		l.ticket = s.budget.askSpare()
		return
	}
	s.lookNow(now)
}

// lookC returns the channel of the sign that waits for the budget, nil if there
// is none.
func (s *run) lookC() <-chan struct{} {
	if s.search.ticket == nil {
		return nil
	}
	return s.search.ticket.granted
}

// lookNow asks for the next sign of life.
func (s *run) lookNow(now time.Time) {
	l := &s.search
	i, v := l.vigil.take(s.verdict.LastLife, now)
	l.ticket, l.vigil = nil, v
	sign := l.signs[i]
	go func() {
		ctx, cancel := context.WithDeadline(s.ctx, now.Add(s.check.Timeout))
		defer cancel()
		s.sight(i, sign.Look(ctx))
	}()
}

// probe makes one probe, and awaits a late answer where the prober can.
func (s *run) probe(ctx context.Context) (Result, Late) {
	if p, ok := s.prober.(Patient); ok {
		return p.ProbePatiently(ctx)
	}
	return s.prober.Probe(ctx), nil
}

// await waits for a late answer, but not if too many are awaited already.
func (s *run) await(late Late) {
	ctx, cancel := context.WithTimeout(s.ctx, lateFor)
	defer cancel()
	select {
	case s.search.waiting <- struct{}{}:
		defer func() { <-s.search.waiting }()
	default:
		cancel()
	}
	s.sight(-1, late(ctx))
}

// sight hands a sign of life to the owner. It is called from the goroutine that
// looked.
func (s *run) sight(sign int, what string) {
	if what == "" {
		return
	}
	select {
	case s.search.sights <- sight{at: time.Now(), what: what, sign: sign}:
	case <-s.gone:
	}
}

// see takes a sign of life in.
func (s *run) see(l sight) {
	if l.sign >= 0 {
		s.search.vigil = s.search.vigil.saw(l.sign)
	}
	was := s.verdict
	s.verdict = s.verdict.Saw(s.check.Rules, l.at, l.what)
	if s.verdict.Level != was.Level || s.verdict.Reason != was.Reason {
		s.tell(was.Level)
	}
}
