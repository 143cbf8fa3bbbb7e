package probe

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a server and its prober in one. How it behaves can be switched.
type fake struct {
	mu    sync.Mutex
	serve func(ctx context.Context) Result
	sent  []time.Time
}

// Probe makes a probe of whatever behaviour is set when it leaves.
func (f *fake) Probe(ctx context.Context) Result {
	f.mu.Lock()
	serve := f.serve
	sent := time.Now()
	f.sent = append(f.sent, sent)
	f.mu.Unlock()
	res := serve(ctx)
	res.Sent, res.Done = sent, time.Now()
	return res
}

// become switches the behaviour.
func (f *fake) become(serve func(context.Context) Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serve = serve
}

// count returns how many probes have left.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sent)
}

// times returns when the probes left, since start.
func (f *fake) times(start time.Time) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var times []time.Duration
	for _, t := range f.sent {
		times = append(times, t.Sub(start))
	}
	return times
}

// The behaviours.

// passes answers rightly at once.
func passes(context.Context) Result { return Result{Cause: Passed, Outcome: "NXDOMAIN", Alive: true} }

// servfail answers wrongly at once.
func servfail(context.Context) Result { return Result{Cause: Wrong, Outcome: "SERVFAIL", Alive: true} }

// refuses is a port that nobody listens on.
func refuses(context.Context) Result { return Result{Cause: Refused, Outcome: "connection refused"} }

// noFD is a box without file descriptors.
func noFD(context.Context) Result { return Result{Cause: Unmade, Outcome: "no fd"} }

// hangs never answers.
func hangs(ctx context.Context) Result {
	<-ctx.Done()
	return Result{Cause: Silent, Outcome: "timeout"}
}

// takes answers rightly after d, or not by the deadline.
func takes(d time.Duration) func(context.Context) Result {
	return func(ctx context.Context) Result {
		select {
		case <-time.After(d):
			return passes(ctx)
		case <-ctx.Done():
			return Result{Cause: Silent, Outcome: "timeout"}
		}
	}
}

// defaults is the check with the default settings.
func defaults() Check {
	return Check{
		Name: "local-name", Interval: time.Second, Timeout: 500 * time.Millisecond,
		FastInterval: 50 * time.Millisecond, Rules: Rules{Fall: 3, Rise: 5},
	}
}

// bench runs a runner and collects what it reports.
type bench struct {
	*Runner
	reports chan Report
	stop    context.CancelFunc
	ended   chan error
}

// start runs check c against f.
func start(t *testing.T, c Check, f Prober, b *Budget) *bench {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h := &bench{reports: make(chan Report, 100_000), stop: cancel, ended: make(chan error, 1)}
	h.Runner = NewRunner(c, f, b, func(r Report) { h.reports <- r })
	go func() { h.ended <- h.Run(ctx) }()
	return h
}

// end stops the runner and waits for it.
func (h *bench) end(t *testing.T) {
	t.Helper()
	h.stop()
	if err := <-h.ended; err != nil {
		t.Errorf("run ended with %v", err)
	}
}

// await returns the first report at the level, and when it came.
func (h *bench) await(l Level) (Report, time.Time) {
	for r := range h.reports {
		if r.Verdict.Level == l {
			return r, time.Now()
		}
	}
	panic("no more reports")
}

// TestRunnerWorstCase proves how long the verdict takes if the fault comes
// right after a probe was answered: interval + over + (fall-1) x fast + timeout
// for a server that hangs, and so on.
func TestRunnerWorstCase(t *testing.T) {
	const ms = time.Millisecond
	short := defaults()
	short.Interval, short.Timeout, short.FastInterval = 100*ms, 150*ms, 20*ms
	overlap := defaults()
	overlap.Interval, overlap.Timeout, overlap.Over = 200*ms, 2*time.Second, 80*ms
	single := defaults()
	single.Rules.Fall = 1
	tests := []struct {
		name  string
		check Check
		fault func(context.Context) Result
		want  time.Duration
		level Level
		was   Level
	}{
		{"hangs", defaults(), hangs, 1000*ms + 50*ms + 2*50*ms + 500*ms, Sick, OK},
		{"hangs, short", short, hangs, 100*ms + 50*ms + 2*20*ms + 150*ms, Sick, OK},
		// The test for gray failure does not wait for a timeout.
		{"hangs, timeout above interval", overlap, hangs, 200*ms + 80*ms + 2*50*ms + 2000*ms, Sick, Slow},
		{"hangs, fall 1", single, hangs, 1000*ms + 500*ms, Sick, OK},
		{"refuses", defaults(), refuses, 1000*ms + 2*5*ms, Dead, OK},
		{"refuses, short", short, refuses, 100*ms + 2*5*ms, Dead, OK},
		{"answers wrongly", defaults(), servfail, 1000*ms + 2*50*ms, Sick, OK},
		{"cannot be made", defaults(), noFD, 3 * 1000 * ms, Unknown, OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{serve: passes}
				h := start(t, tt.check, f, nil)
				defer h.end(t)
				h.await(OK)
				f.become(tt.fault)
				fault := time.Now()
				r, when := h.await(tt.level)
				if got := when.Sub(fault); got != tt.want {
					t.Errorf("%v after %v, want %v", tt.level, got, tt.want)
				}
				if r.Was != tt.was || r.Check != "local-name" {
					t.Errorf("report %+v, want one of local-name that was %v", r, tt.was)
				}
			})
		})
	}
}

// TestRunnerDead proves that a server that hangs is dead exactly silent_after
// the first unanswered probe has left.
func TestRunnerDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := defaults()
		c.Interval = time.Hour // No result comes then: time alone decides.
		c.Rules.Rise = 1
		f := &fake{serve: passes}
		h := start(t, c, f, nil)
		defer h.end(t)
		h.await(OK)
		f.become(hangs)
		sent := time.Now().Add(time.Hour)
		h.await(Sick)
		r, when := h.await(Dead)
		if got := when.Sub(sent); got != DefaultSilentAfter {
			t.Errorf("dead %v after the first unanswered probe, want %v", got, DefaultSilentAfter)
		}
		if r.Result.Outcome != "timeout" || r.Was != Sick {
			t.Errorf("unexpected report %+v", r)
		}
	})
}

// TestRunnerRise proves that the first probe leaves at once and that the
// return is never looked at faster than the interval, whatever fails.
func TestRunnerRise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: refuses}
		begin := time.Now()
		h := start(t, defaults(), f, nil)
		defer h.end(t)
		_, when := h.await(Dead)
		if got := when.Sub(begin); got != 2*time.Second {
			t.Errorf("dead %v after the start, want 2s", got)
		}
		f.become(passes)
		h.Suspect() // A fallen check does not look now.
		r, when := h.await(OK)
		if got := when.Sub(begin); got != 7*time.Second {
			t.Errorf("ok %v after the start, want 7s", got)
		}
		if !r.Verdict.Ready || r.Was != Sick {
			t.Errorf("unexpected report %+v", r)
		}
		for i, at := range f.times(begin) {
			if at != time.Duration(i)*time.Second {
				t.Errorf("probe %d left after %v", i, at)
			}
		}
	})
}

// TestRunnerClear proves that one slow answer costs one fast probe, a closer
// look at watchPace until it weighs nothing any more, and then the old pace.
func TestRunnerClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: passes}
		h := start(t, defaults(), f, nil)
		defer h.end(t)
		h.await(OK)
		time.Sleep(500 * time.Millisecond) // Between two probes.
		begin, before := time.Now(), f.count()
		f.become(takes(300 * time.Millisecond))
		time.Sleep(501 * time.Millisecond) // One has left.
		f.become(passes)
		time.Sleep(4 * time.Second)
		got := f.times(begin)[before:]
		want := []time.Duration{500, 600, 750, 900, 1050, 1200, 1350, 1500, 2500, 3500, 4500, 5500}
		if len(got) != len(want)-1 {
			t.Fatalf("probes left at %v", got)
		}
		for i, at := range got {
			if at != want[i]*time.Millisecond {
				t.Errorf("probe %d left after %v, want %v", i, at, want[i]*time.Millisecond)
			}
		}
	})
}

// TestRunnerSuspect proves that a trip makes a ready check look now, and that
// a server that is gone is found dead 10 ms later.
func TestRunnerSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: passes}
		h := start(t, defaults(), f, nil)
		defer h.end(t)
		h.await(OK)
		time.Sleep(321 * time.Millisecond)
		f.become(refuses)
		trip := time.Now()
		h.Suspect()
		h.Suspect()
		_, when := h.await(Dead)
		if got := when.Sub(trip); got != 10*time.Millisecond {
			t.Errorf("dead %v after the trip, want 10ms", got)
		}
	})
}

// TestRunnerOpenLoop proves that steady probes leave on their grid although
// none of the earlier ones has ended.
func TestRunnerOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := defaults()
		c.Interval, c.Timeout = 100*time.Millisecond, 10*time.Second
		f := &fake{serve: hangs}
		begin := time.Now()
		h := start(t, c, f, nil)
		time.Sleep(c.Timeout - time.Millisecond)
		got := f.times(begin)
		h.end(t)
		if len(got) != 100 {
			t.Fatalf("%d probes left, want 100", len(got))
		}
		for i, at := range got {
			if at != time.Duration(i)*c.Interval {
				t.Errorf("probe %d left after %v", i, at)
			}
		}
		if len(h.reports) != 0 {
			t.Errorf("%d results were reported after the end", len(h.reports))
		}
	})
}

// TestRunnerReport proves what the steady state reports: one report a probe,
// the latencies and the learned threshold.
func TestRunnerReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: takes(8 * time.Millisecond)}
		h := start(t, defaults(), f, nil)
		defer h.end(t)
		time.Sleep(20*time.Second + 500*time.Millisecond)
		if got := len(h.reports); got != 21 {
			t.Errorf("%d reports in 20.5 s, want 21", got)
		}
		var last Report
		for len(h.reports) > 0 {
			last = <-h.reports
		}
		f.become(refuses)
		r, _ := h.await(Dead)
		if r.Stats != last.Stats {
			t.Errorf("stats %+v after refusals, want %+v", r.Stats, last.Stats)
		}
		const ms = time.Millisecond
		if want := (Stats{P50: 8 * ms, P95: 8 * ms, P99: 8 * ms, N: 21}); last.Stats != want {
			t.Errorf("stats %+v, want %+v", last.Stats, want)
		}
		if last.Over != 80*ms {
			t.Errorf("over %v, want 80ms", last.Over)
		}
		if last.Result.RTT() != 8*ms || last.Result.Outcome != "NXDOMAIN" {
			t.Errorf("result %+v", last.Result)
		}
	})
}
