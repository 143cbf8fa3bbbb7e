package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRunnerLostPacket proves that one lost packet among probes that pass is
// no reason for suspicion.
func TestRunnerLostPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := defaults()
		c.Interval, c.FastInterval = 20*time.Millisecond, 5*time.Millisecond
		f := &fake{serve: passes}
		h := start(t, c, f, nil)
		defer h.end(t)
		h.await(OK)
		time.Sleep(10 * time.Millisecond)
		f.become(hangs)
		time.Sleep(20 * time.Millisecond)
		f.become(passes)
		time.Sleep(time.Second)
		times := f.times(time.Now())
		for i := range times[1:] {
			if gap := times[i+1] - times[i]; gap != c.Interval {
				t.Errorf("probe %d left %v after the one before", i+1, gap)
			}
		}
	})
}

// TestRunStall proves that a stall of the owner goroutine itself makes no probe
// late that has been answered meanwhile.
func TestRunStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRunner(defaults(), &fake{serve: passes}, nil, func(Report) {})
		s := newRun(t.Context(), r)
		s.verdict = Verdict{Level: OK, Ready: true}
		now := time.Now()
		s.plan = s.plan.sent(now)
		f := &flight{sent: now, lateAt: now.Add(50 * time.Millisecond), overdue: now.Add(time.Second)}
		s.flights[f] = struct{}{}
		go func() { s.landed <- landing{flight: f, result: Result{Sent: now, Done: now, Cause: Passed}} }()
		synctest.Wait()
		s.tick(now.Add(2 * time.Second))
		if s.plan.suspicious || s.verdict.Passes != 1 {
			t.Errorf("suspicious %v after %d passes", s.plan.suspicious, s.verdict.Passes)
		}
		s.end()
	})
}

// TestRunnerHurry proves that a probe which waits for the budget behind others
// goes before them once its check is under suspicion, and so do the next.
func TestRunnerHurry(t *testing.T) {
	tests := []struct {
		name    string
		serve   func(ctx context.Context) Result // the probe before
		trigger func(r *Runner)                  // 1.3 s after it left
	}{
		{"late", hangs, func(*Runner) {}},
		{"failed", takesWrong(1250 * time.Millisecond), func(*Runner) {}},
		{"tripped", passes, (*Runner).Suspect},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := defaults()
				c.Timeout, c.Over = 10*time.Second, 1300*time.Millisecond
				b := NewBudget()
				f := &fake{serve: passes}
				h := start(t, c, f, b)
				defer h.end(t)
				h.await(OK)
				f.become(tt.serve)
				time.Sleep(1500 * time.Millisecond) // The probe has left 0.5 s ago.
				f.become(hangs)
				for range 100 { // More than six seconds' worth.
					b.ask(false)
				}
				time.Sleep(800 * time.Millisecond)
				before := f.count()
				tt.trigger(h.Runner)
				time.Sleep(1200 * time.Millisecond)
				// The others in the queue are let go in bursts, one a second.
				if got := f.count() - before; got < 2 {
					t.Errorf("%d probes left within 1.2 s, want at least 2", got)
				}
			})
		})
	}
}

// takesWrong answers wrongly after d.
func takesWrong(d time.Duration) func(context.Context) Result {
	return func(ctx context.Context) Result {
		time.Sleep(d)
		return servfail(ctx)
	}
}

// TestRunnerSuspectTwice proves that a trip is followed by a second look at once,
// since the first may reach a socket that is about to go too.
func TestRunnerSuspectTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: passes}
		h := start(t, defaults(), f, nil)
		defer h.end(t)
		h.await(OK)
		time.Sleep(321 * time.Millisecond)
		f.become(hangs)
		trip := time.Now()
		h.Suspect()
		synctest.Wait()
		f.become(refuses)
		_, when := h.await(Dead)
		if got := when.Sub(trip); got != 15*time.Millisecond {
			t.Errorf("dead %v after the trip, want 15ms", got)
		}
	})
}
