package probe

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRunnerStuckProber proves that a prober which heeds neither deadline nor
// end does not hold the runner up: it is judged silent, then not asked again,
// and the runner still ends.
func TestRunnerStuckProber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		f := &fake{serve: passes}
		h := start(t, defaults(), f, nil)
		h.await(OK)
		f.become(func(ctx context.Context) Result {
			<-free
			return passes(ctx)
		})
		r, _ := h.await(Sick)
		if want := "timeout; the probe did not end"; r.Result.Outcome != want {
			t.Errorf("outcome %q, want %q", r.Result.Outcome, want)
		}
		r, _ = h.await(Unknown)
		if want := "earlier probes have not ended"; !strings.HasSuffix(r.Result.Outcome, want) {
			t.Errorf("outcome %q, want one that ends with %q", r.Result.Outcome, want)
		}
		stuck := f.count()
		time.Sleep(time.Minute)
		if got := f.count(); got != stuck {
			t.Errorf("%d probes more were made", got-stuck)
		}
		begin := time.Now()
		h.end(t)
		if took := time.Since(begin); took > endAfter {
			t.Errorf("the end took %v, want at most %v", took, endAfter)
		}
		close(free)
		synctest.Wait() // Whatever is left now would fail the bubble.
	})
}

// TestRunnerStuckAtEnd proves that the end does not wait for a prober that
// heeds no context and has not been given up yet.
func TestRunnerStuckAtEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		f := &fake{serve: func(ctx context.Context) Result {
			<-free
			return passes(ctx)
		}}
		h := start(t, defaults(), f, nil)
		time.Sleep(time.Millisecond)
		begin := time.Now()
		h.end(t)
		if took := time.Since(begin); took != endAfter {
			t.Errorf("the end took %v, want %v", took, endAfter)
		}
		close(free)
	})
}

// TestRunnerStuckRecovers proves that probes are made again once the stuck
// ones have ended, and that their late results count for nothing.
func TestRunnerStuckRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		f := &fake{serve: func(ctx context.Context) Result {
			<-free
			return passes(ctx)
		}}
		h := start(t, defaults(), f, nil)
		defer h.end(t)
		h.await(Sick)
		time.Sleep(30 * time.Second)
		for len(h.reports) > 0 {
			<-h.reports
		}
		f.become(passes)
		close(free)
		freed := time.Now()
		synctest.Wait()
		if n := len(h.reports); n > 1 {
			t.Errorf("%d late results were reported, want those not yet given up alone", n)
		}
		if _, when := h.await(OK); when.Sub(freed) > 5*time.Second {
			t.Errorf("ok %v after the probers came free, want at most 5s", when.Sub(freed))
		}
	})
}

// TestRunnerEnds proves that the end of ctx ends the probes under way, reports
// nothing more, and leaves no goroutine (the bubble would not end).
func TestRunnerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan error, 1)
		f := &fake{serve: func(ctx context.Context) Result {
			<-ctx.Done()
			cancelled <- ctx.Err()
			return passes(ctx)
		}}
		b := NewBudget()
		for range BudgetPerSecond - 1 {
			b.ask(false)
		}
		c := defaults()
		c.Interval = 50 * time.Millisecond
		h := start(t, c, f, b)
		time.Sleep(100 * time.Millisecond) // One is out, one waits for the budget.
		synctest.Wait()
		if len(b.waiting) != 1 {
			t.Errorf("%d probes wait for the budget, want 1", len(b.waiting))
		}
		begin := time.Now()
		h.end(t)
		if took := time.Since(begin); took != 0 {
			t.Errorf("the end took %v", took)
		}
		if len(b.waiting) != 0 {
			t.Error("a probe still waits for the budget")
		}
		if err := <-cancelled; err != context.Canceled {
			t.Errorf("the prober's context ended with %v", err)
		}
		if n := len(h.reports); n != 0 {
			t.Errorf("%d results were reported after the end", n)
		}
	})
}

// TestRunnerBareResult proves that a prober may leave the times to the runner.
func TestRunnerBareResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, defaults(), bare{}, nil)
		defer h.end(t)
		r := <-h.reports
		if got := r.Result.RTT(); got != 30*time.Millisecond {
			t.Errorf("round trip of %v, want 30ms", got)
		}
	})
}

// bare is a prober that says nothing of time.
type bare struct{}

// Probe passes after 30 ms.
func (bare) Probe(context.Context) Result {
	time.Sleep(30 * time.Millisecond)
	return Result{Cause: Passed, Alive: true}
}

// TestRunnerBudget proves that checks of one server share its budget and that
// the one under suspicion still finds its verdict in time.
func TestRunnerBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget()
		busy := defaults()
		busy.Interval = 100 * time.Millisecond
		crowd := &fake{serve: passes}
		h1 := start(t, busy, crowd, b)
		defer h1.end(t)
		f := &fake{serve: passes}
		h2 := start(t, defaults(), f, b)
		defer h2.end(t)
		h2.await(OK)
		f.become(hangs)
		fault := time.Now()
		_, when := h2.await(Sick)
		worst := time.Second + (50+2*50+500)*time.Millisecond
		if got := when.Sub(fault); got > worst+500*time.Millisecond {
			t.Errorf("sick after %v, want about %v", got, worst)
		}
		time.Sleep(30 * time.Second)
		all := append(crowd.times(fault), f.times(fault)...)
		slices.Sort(all)
		checkSpan(t, all, BudgetPerSecond, time.Second)
		checkSpan(t, all, BudgetPerMinute, time.Minute)
	})
}
