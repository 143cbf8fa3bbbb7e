package probe

import (
	"context"
	"time"
)

// Check is what a Runner repeats and how it judges.
type Check struct {
	// Name names the check in reports.
	Name string
	// Interval is the time between steady probes; it must be more than zero.
	Interval time.Duration
	// Timeout is how long an answer is waited for. It may exceed Interval:
	// probes overlap. It must be more than zero.
	Timeout time.Duration
	// FastInterval is the time between probes under suspicion, at most Interval.
	FastInterval time.Duration
	// Serial keeps probes from overlapping, for those that are a load (a page, a
	// program): one that is due while another is out leaves when that has ended.
	Serial bool
	// Over is for how long a probe may be out before it is late. Zero: ten times
	// the healthy median, within the bounds that the design names.
	Over time.Duration
	// Rules judge the results. A zero SilentAfter or UnknownAfter or a zero number
	// of the SlowTest stands for its default.
	Rules Rules
}

// Report is what a Runner says after every result, and when time alone or a
// sign of life has changed the verdict (with the last Result again).
type Report struct {
	// Check is the check's name.
	Check string
	// Result is the result that came last.
	Result Result
	// Verdict is the verdict now; Was is the level before.
	Verdict Verdict
	Was     Level
	// Stats are the latencies of the last 300 samples.
	Stats Stats
	// Over is the threshold of lateness now in force.
	Over time.Duration
}

// Runner repeats one check in open loop: its probes leave on schedule whatever
// happened to earlier ones, and each is judged by its own deadline.
type Runner struct {
	check  Check
	prober Prober
	budget *Budget
	report func(Report)
	trips  chan struct{}
}

// NewRunner returns a runner of check c. Its probes wait for the budget b if
// that is not nil. The function report is called from one goroutine, the one
// that calls Run, and must not block.
//
// If p is a Signer, its signs of life are looked for when a probe is late; if
// it is Patient, an answer that comes within 5 s after a deadline is one too.
func NewRunner(c Check, p Prober, b *Budget, report func(Report)) *Runner {
	if c.Rules.SilentAfter == 0 {
		c.Rules.SilentAfter = DefaultSilentAfter
	}
	if c.Rules.UnknownAfter == 0 {
		c.Rules.UnknownAfter = DefaultUnknownAfter
	}
	c.Rules.Slow = c.Rules.Slow.completed()
	return &Runner{check: c, prober: p, budget: b, report: report, trips: make(chan struct{}, 1)}
}

// Suspect makes a check that is ready look now and go on looking fast until
// its verdict is clear. It never blocks and may be called from anywhere.
func (r *Runner) Suspect() {
	select {
	case r.trips <- struct{}{}:
	default: // A trip is waiting already.
	}
}

// Run probes until ctx is done, the first time at once. It then ends the
// probes under way, drops their results, and returns nil. Every Run starts
// with nothing known, and so does a Run that finds that for more than 3 s it was
// not scheduled; a shorter stall voids the probes that were out.
func (r *Runner) Run(ctx context.Context) error {
	s := newRun(ctx, r)
	defer s.end()
	for ctx.Err() == nil {
		s.arm(time.Now())
		act := s.wait()
		now := time.Now()
		s.woke(now)
		act(now)
		s.rest(time.Now())
	}
	return nil
}

// wait waits for what happens next and returns what is to be done about it.
func (s *run) wait() func(now time.Time) {
	select {
	case <-s.ctx.Done():
		return func(time.Time) {}
	case <-s.timer.C:
		return s.tick
	case <-s.grantC():
		return s.launch
	case l := <-s.landed:
		return func(time.Time) { s.land(l) }
	case <-s.lookC():
		return s.lookNow
	case l := <-s.search.sights:
		return func(time.Time) { s.see(l) }
	case <-s.trips:
		return s.trip
	}
}
