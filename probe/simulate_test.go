package probe

import (
	"math/rand/v2"
	"slices"
	"time"
)

// The simulation runs a check against a server whose answers are drawn, without
// sockets or goroutines, so that months pass within seconds. It is made of the
// parts that a Runner is made of: Verdict, schedule, and the budget's windows.
// TestSimulationIsTrue holds it against the Runner.

// server says how long an answer takes to a question that leaves at a time
// since the start, which never goes back; ok is false if it is lost.
type server func(at time.Duration) (took time.Duration, ok bool)

// shot is one probe under way.
type shot struct {
	sent, ends, lateAt time.Time
	ok, late, sampled  bool
}

// simulation is a check at work.
type simulation struct {
	check   Check
	server  server
	verdict Verdict
	plan    schedule
	all     window
	urgent  window
	now     time.Time
	shots   []shot
	sent    int // probes so far
}

// simulate returns a check that is well at the start.
func simulate(c Check, s server) *simulation {
	c.Rules.Slow = c.Rules.Slow.completed()
	if c.Rules.SilentAfter == 0 {
		c.Rules.SilentAfter = DefaultSilentAfter
	}
	b := NewBudget()
	return &simulation{
		check: c, server: s, verdict: Verdict{Level: OK, Ready: true},
		plan: newSchedule(c, epoch), all: b.all, urgent: b.urgent, now: epoch,
	}
}

// run lets the time d pass, or less if the level changes.
func (s *simulation) run(d time.Duration) {
	was := s.verdict.Level
	for end := s.now.Add(d); s.verdict.Level == was; {
		at, what := s.next()
		if at.After(end) {
			s.now = end
			return
		}
		s.now = at
		s.happen(what)
	}
}

// next returns what happens next, and when: a probe leaves (-1), or something
// happens to the shot of an index.
func (s *simulation) next() (time.Time, int) {
	when, what := s.free(later(s.now, s.plan.next)), -1
	for i := range s.shots {
		f := &s.shots[i]
		at := f.ends
		if !f.late && f.lateAt.Before(at) {
			at = f.lateAt
		}
		if at.Before(when) {
			when, what = at, i
		}
	}
	return when, what
}

// free returns when the budget lets a probe go that is due at t.
func (s *simulation) free(t time.Time) time.Time {
	t = s.all.free(t)
	if s.plan.suspicious {
		t = later(t, s.urgent.free(t))
	}
	return t
}

// happen makes it happen.
func (s *simulation) happen(what int) {
	switch {
	case what < 0:
		s.launch()
		return
	case !s.shots[what].late && s.shots[what].lateAt.Before(s.shots[what].ends):
		s.markLate(&s.shots[what])
	default:
		f := s.shots[what]
		s.shots = slices.Delete(s.shots, what, what+1)
		s.land(f)
	}
	s.plan = s.plan.watch(s.verdict.watched())
}

// launch lets a probe leave.
func (s *simulation) launch() {
	s.all.add(s.now)
	s.sent++
	if s.plan.suspicious {
		s.urgent.add(s.now)
	}
	s.plan = s.plan.sent(s.now)
	took, ok := s.server(s.now.Sub(epoch))
	if !ok || took >= s.check.Timeout {
		took, ok = s.check.Timeout, false
	}
	s.shots = append(s.shots, shot{sent: s.now, ends: s.now.Add(took), lateAt: s.now.Add(s.check.Over), ok: ok})
}

// markLate is run.markLate.
func (s *simulation) markLate(f *shot) {
	f.late = true
	s.verdict, f.sampled = s.verdict.Late(s.check.Rules, s.now)
	switch {
	case !s.verdict.Ready:
		s.plan = s.plan.calm()
	case !s.verdict.outdated(f.sent):
		s.plan = s.plan.doubt(s.now)
	}
}

// land is run.take.
func (s *simulation) land(f shot) {
	res := Result{Sent: f.sent, Done: s.now, Cause: Silent, Outcome: "timeout", Late: f.late, Sampled: f.sampled}
	if f.ok {
		res.Cause, res.Outcome, res.Alive = Passed, "NXDOMAIN", true
	}
	s.verdict = s.verdict.Next(s.check.Rules, res)
	lateOut := slices.ContainsFunc(s.shots, func(f shot) bool { return f.late && !s.verdict.outdated(f.sent) })
	s.plan = s.plan.after(s.verdict, res, lateOut, s.now)
}

// The servers.

// independently answers a share of the questions badly, each by itself.
func independently(r *rand.Rand, share float64, bad time.Duration) server {
	return func(time.Duration) (time.Duration, bool) {
		if r.Float64() < share {
			return bad, true
		}
		return 2 * time.Millisecond, true
	}
}

// stalling answers nothing for a time, then everything at once, so often that
// it does not answer for the share of the time. Stalls begin at random.
func stalling(r *rand.Rand, share float64, stall time.Duration) server {
	rest := float64(stall) * (1 - share) / share
	apart := min(time.Second, time.Duration(rest/2))
	var begin, end time.Duration
	next := func() {
		begin = end + apart + time.Duration(r.ExpFloat64()*(rest-float64(apart)))
		end = begin + stall
	}
	next()
	return func(at time.Duration) (time.Duration, bool) {
		for at >= end {
			next()
		}
		if at < begin {
			return 2 * time.Millisecond, true
		}
		return end - at + 2*time.Millisecond, true
	}
}
