package probe

import (
	"context"
	"fmt"
	"time"
)

const (
	// overdueAfter is for how long past its deadline a prober may stay before
	// its probe is given up. It is generous: a busy box is not a broken prober.
	overdueAfter = time.Second
	// strayMax is how many given up probers may still be out before no further
	// probe is made, so that a broken prober does not fill the memory.
	strayMax = 16
	// endAfter is for how long a stopping run waits for its probers.
	endAfter = 100 * time.Millisecond
)

// flight is one probe under way.
type flight struct {
	sent    time.Time // when it left
	ends    time.Time // its deadline
	lateAt  time.Time // when it counts as late
	overdue time.Time // when its prober is given up
	late    bool
	counted bool // it was known what late means when it was
	sampled bool // and it became a bad sample then
	void    bool // out during a stall; its result does not count
	stray   bool // given up; its result no longer counts
}

// landing is a flight with its result.
type landing struct {
	flight *flight
	result Result
}

// run is the state of one call of Run. The owner goroutine alone touches it.
type run struct {
	*Runner
	ctx     context.Context
	verdict Verdict
	plan    schedule
	shown   latencies
	healthy baseline
	last    Result

	flights map[*flight]struct{}
	strays  int
	search  search
	landed  chan landing
	gone    chan struct{} // closed when nobody receives from landed any more
	ticket  *ticket       // nil: no probe waits for the budget
	timer   *time.Timer
	armed   time.Time // when the timer is due
	awake   time.Time // when the owner last woke
}

// newRun returns the state at the start.
func newRun(ctx context.Context, r *Runner) *run {
	now := time.Now()
	return &run{
		Runner:  r,
		ctx:     ctx,
		plan:    newSchedule(r.check, now),
		flights: make(map[*flight]struct{}),
		search:  newSearch(r.check, r.prober),
		landed:  make(chan landing),
		gone:    make(chan struct{}),
		timer:   time.NewTimer(0),
		awake:   now,
	}
}

// arm sets the timer to whatever is due first, or to the next pulse.
func (s *run) arm(now time.Time) {
	due := now.Add(pulse)
	first := func(t time.Time) {
		if t.Before(due) {
			due = t
		}
	}
	if t, ok := s.verdict.Due(s.check.Rules); ok {
		first(t)
	}
	if s.free() {
		first(s.plan.next)
	}
	if t, ok := s.lookDue(); ok {
		first(t)
	}
	for f := range s.flights {
		f.dues(now, first)
	}
	s.armed = later(due, now)
	s.timer.Reset(s.armed.Sub(now))
}

// dues passes on when something is due for the flight. Nothing is to be done at
// its deadline, but a stall then would be one of its prober too.
func (f *flight) dues(now time.Time, first func(time.Time)) {
	if !f.late {
		first(f.lateAt)
	}
	if !f.stray {
		first(f.overdue)
	}
	if f.ends.After(now) {
		first(f.ends)
	}
}

// tick does what is due at now.
func (s *run) tick(now time.Time) {
	s.collect()
	for f := range s.flights {
		switch {
		case !f.stray && !now.Before(f.overdue):
			s.giveUp(f, now)
		case !f.late && !now.Before(f.lateAt):
			s.markLate(f, now)
		}
	}
	if due, ok := s.verdict.Due(s.check.Rules); ok && !now.Before(due) {
		was := s.verdict.Level
		s.verdict = s.verdict.At(s.check.Rules, now)
		s.tell(was)
	}
	if s.free() && !now.Before(s.plan.next) {
		s.ask(now)
	}
	if due, ok := s.lookDue(); ok && !now.Before(due) {
		s.look(now)
	}
}

// collect takes in the results that wait already, so that a stall of this
// goroutine makes no answered probe late.
func (s *run) collect() {
	for {
		select {
		case l := <-s.landed:
			s.land(l)
		default:
			return
		}
	}
}

// free tells whether a probe may leave once it is due: none waits for the
// budget, and where probes must not overlap none is out. One that was given up
// holds nobody up, or a broken prober would end the check without a word.
func (s *run) free() bool {
	return s.ticket == nil && (!s.check.Serial || len(s.flights) == s.strays)
}

// ask lets a probe leave, once the budget allows.
func (s *run) ask(now time.Time) {
	if s.ctx.Err() != nil {
		return // A probe that the end has ended does not make room for another.
	}
	if s.budget == nil {
		s.launch(now)
		return
	}
	s.ticket = s.budget.ask(s.plan.suspicious)
}

// grantC returns the channel of the ticket that waits, nil if there is none.
func (s *run) grantC() <-chan struct{} {
	if s.ticket == nil {
		return nil
	}
	return s.ticket.granted
}

// launch starts a probe at now.
func (s *run) launch(now time.Time) {
	s.ticket = nil
	s.plan = s.plan.sent(now)
	if s.strays >= strayMax {
		text := fmt.Sprintf("%d earlier probes have not ended", s.strays)
		s.take(&flight{}, Result{Sent: now, Done: now, Outcome: text})
		return
	}
	deadline := now.Add(s.check.Timeout)
	f := &flight{sent: now, ends: deadline, lateAt: now.Add(s.over()), overdue: deadline.Add(overdueAfter)}
	s.flights[f] = struct{}{}
	go s.fly(f, deadline)
}

// fly makes one probe in a goroutine of its own.
func (s *run) fly(f *flight, deadline time.Time) {
	ctx, cancel := context.WithDeadline(s.ctx, deadline)
	defer cancel()
	res, late := s.probe(ctx)
	if res.Sent.IsZero() {
		res.Sent = f.sent
	}
	if res.Done.IsZero() {
		res.Done = time.Now()
	}
	select {
	case s.landed <- landing{flight: f, result: res}:
	case <-s.gone:
	}
	if late != nil {
		s.await(late)
	}
}

// land takes a flight out and its result in.
func (s *run) land(l landing) {
	delete(s.flights, l.flight)
	if l.flight.stray {
		s.strays--
		return
	}
	if s.ctx.Err() == nil && !l.flight.void {
		s.take(l.flight, l.result)
	}
}

// giveUp judges a probe whose prober did not return by its deadline.
func (s *run) giveUp(f *flight, now time.Time) {
	f.late, f.stray = true, true
	s.strays++
	if f.void {
		return
	}
	s.take(f, Result{Sent: f.sent, Done: now, Cause: Silent, Outcome: "timeout; the probe did not end"})
}

// markLate makes a probe that is still out a bad sample, and a reason for
// suspicion unless one that left later has passed.
func (s *run) markLate(f *flight, now time.Time) {
	was := s.verdict.Level
	s.countLate(f, now)
	switch {
	case !s.verdict.Ready:
		s.plan = s.plan.calm()
	case !s.verdict.outdated(f.sent):
		s.plan = s.plan.doubt(now)
		s.hurry()
	}
	s.plan = s.plan.watch(s.verdict.watched())
	if s.verdict.Level != was {
		s.tell(was)
	}
}

// countLate makes a probe that is late at now a bad sample, but not before it is
// known what late means for this check.
func (s *run) countLate(f *flight, now time.Time) {
	f.late = true
	if s.check.Over > 0 || s.healthy.known() {
		f.counted = true
		s.verdict, f.sampled = s.verdict.Late(s.check.Rules, now)
	}
}

// trip makes a check that is ready look now.
func (s *run) trip(now time.Time) {
	if s.verdict.Ready {
		s.plan = s.plan.trip(now)
		s.hurry()
	}
}

// hurry moves a probe that waits for the budget ahead.
func (s *run) hurry() {
	if s.ticket != nil && s.plan.suspicious {
		s.budget.hurry(s.ticket)
	}
}

// take judges a result and reports it.
func (s *run) take(f *flight, res Result) {
	was := s.verdict.Level
	now := time.Now()
	if !f.late && res.Cause == Passed && res.Done.After(f.lateAt) {
		// It came just before the timer that would have said so.
		s.countLate(f, now)
	}
	res.Late, res.Sampled = f.counted, f.sampled
	s.verdict = s.verdict.Next(s.check.Rules, res)
	s.last = res
	if res.Cause != Refused && res.Cause != Unmade {
		s.shown.add(res.RTT())
	}
	s.healthy.learn(s.verdict.Level, res)
	s.plan = s.plan.after(s.verdict, res, s.lateOut(), now)
	s.plan = s.plan.watch(s.verdict.watched())
	s.hurry()
	s.tell(was)
}

// lateOut tells whether a probe is out late that the verdict would still count.
func (s *run) lateOut() bool {
	for f := range s.flights {
		if f.late && !f.void && !s.verdict.outdated(f.sent) {
			return true
		}
	}
	return false
}

// tell reports the state after a level of was.
func (s *run) tell(was Level) {
	s.report(Report{
		Check:   s.check.Name,
		Result:  s.last,
		Verdict: s.verdict,
		Was:     was,
		Stats:   s.shown.stats(),
		Over:    s.over(),
	})
}

// over returns the threshold of lateness now in force.
func (s *run) over() time.Duration {
	median, over := s.healthy.median(), s.check.Over
	if over == 0 {
		over = autoOver(median, s.check.Timeout)
	}
	if s.verdict.slow.stuck {
		return backOver(over, median)
	}
	return over
}

// end waits for the probers, whose context is done, but not for one that does
// not heed it.
func (s *run) end() {
	defer close(s.gone)
	s.timer.Stop()
	for _, t := range []*ticket{s.ticket, s.search.ticket} {
		if t != nil {
			s.budget.cancel(t)
		}
	}
	patience := time.NewTimer(endAfter)
	defer patience.Stop()
	for len(s.flights) > s.strays {
		select {
		case l := <-s.landed:
			s.land(l)
		case <-patience.C:
			return
		}
	}
}
