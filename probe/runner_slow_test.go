package probe

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fixed is the default check with a fixed threshold.
func fixed(over time.Duration) Check {
	c := defaults()
	c.Over = over
	return c
}

// TestRunnerSlow proves that a server all of whose answers are late is left as
// slow within 2.5 s at the worst phase, with a threshold that is fixed or learned
// and whatever the answers take; and that it is looked at no faster than every
// interval from then on, for ever.
func TestRunnerSlow(t *testing.T) {
	tests := []struct {
		name  string
		check Check
		takes time.Duration
	}{
		{"fixed", fixed(50 * time.Millisecond), 200 * time.Millisecond},
		{"learned", defaults(), 200 * time.Millisecond},
		{"nearly the timeout", defaults(), 499 * time.Millisecond},
		{"just late", fixed(50 * time.Millisecond), 51 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{serve: takes(2 * time.Millisecond)}
				h := start(t, tt.check, f, NewBudget())
				defer h.end(t)
				time.Sleep(30*time.Second + 3*time.Millisecond)
				f.become(takes(tt.takes))
				fault := time.Now()
				r, when := h.await(Slow)
				if got := when.Sub(fault); got > 2500*time.Millisecond {
					t.Errorf("slow after %v", got)
				}
				if r.Was != OK || r.Verdict.Ready || !strings.HasSuffix(r.Verdict.Reason, " probes were late") {
					t.Errorf("unexpected report %+v", r)
				}
				if want := 25 * time.Millisecond; r.Over != want {
					t.Errorf("over %v, want half of it, %v", r.Over, want)
				}
				time.Sleep(time.Second)
				before := f.count()
				drain(h)
				time.Sleep(time.Hour)
				if got := f.count() - before; got != 3600 {
					t.Errorf("%d probes within an hour, want 3600", got)
				}
				for len(h.reports) > 0 {
					if r := <-h.reports; r.Verdict.Level != Slow {
						t.Fatalf("%v: %s", r.Verdict.Level, r.Verdict.Reason)
					}
				}
			})
		})
	}
}

// TestRunnerSlowBack proves that the return takes as many good samples as weigh
// the threshold against a server that was bad throughout, and answers that are good by half the threshold.
func TestRunnerSlowBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: takes(2 * time.Millisecond)}
		h := start(t, fixed(50*time.Millisecond), f, nil)
		defer h.end(t)
		time.Sleep(30 * time.Second)
		f.become(takes(200 * time.Millisecond))
		h.await(Slow)
		f.become(takes(40 * time.Millisecond))
		time.Sleep(10 * time.Minute)
		for len(h.reports) > 0 {
			if r := <-h.reports; r.Verdict.Level != Slow {
				t.Fatalf("%v: %s", r.Verdict.Level, r.Verdict.Reason)
			}
		}
		f.become(takes(20 * time.Millisecond))
		repaired := time.Now()
		r, when := h.await(OK)
		// The first of 19 leaves at once or a second later.
		if got := when.Sub(repaired); got < 18*time.Second || got > 20*time.Second {
			t.Errorf("ok after %v, want 18s to 20s", got)
		}
		if !r.Verdict.Ready || r.Was != Slow {
			t.Errorf("unexpected report %+v", r)
		}
	})
}

// TestRunnerStalls proves that one stall of less than a second is no verdict,
// at whatever phase, if the timeout is long enough for `fall` to have no say.
func TestRunnerStalls(t *testing.T) {
	most := 0
	for phase := range 20 {
		synctest.Test(t, func(t *testing.T) {
			c := fixed(50 * time.Millisecond)
			c.Timeout = 2 * time.Second
			f := &fake{serve: passes}
			h := start(t, c, f, NewBudget())
			defer h.end(t)
			time.Sleep(10*time.Second + time.Duration(phase)*50*time.Millisecond)
			end := time.Now().Add(999 * time.Millisecond)
			f.become(func(ctx context.Context) Result { return takes(time.Until(end))(ctx) })
			time.Sleep(30 * time.Second)
			for len(h.reports) > 0 {
				if r := <-h.reports; r.Verdict.Level != OK && r.Verdict.Ready {
					t.Fatalf("phase %d: %v: %s", phase, r.Verdict.Level, r.Verdict.Reason)
				}
			}
			most = max(most, f.count())
		})
	}
	if most < 50 {
		t.Errorf("at most %d probes: the stall was not looked at", most)
	}
}

// TestRunnerColdStart proves that what is late is not called so before it is
// known what is usual: a server that always takes long is ok, and what it takes
// is learned.
func TestRunnerColdStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: takes(200 * time.Millisecond)}
		h := start(t, defaults(), f, NewBudget())
		defer h.end(t)
		h.await(OK)
		time.Sleep(10 * time.Minute)
		var last Report
		for len(h.reports) > 0 {
			if last = <-h.reports; last.Verdict.Level != OK {
				t.Fatalf("%v: %s", last.Verdict.Level, last.Verdict.Reason)
			}
		}
		if want := 400 * time.Millisecond; last.Over != want {
			t.Errorf("over %v, want %v", last.Over, want)
		}
		before := f.count()
		time.Sleep(time.Minute)
		if got := f.count() - before; got < 59 || got > 61 {
			t.Errorf("%d probes within a minute", got)
		}
	})
}

// TestRunnerSlowStart proves that a server which is late by a fixed threshold
// from the start does not rise, but is slow.
func TestRunnerSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: takes(200 * time.Millisecond)}
		h := start(t, fixed(50*time.Millisecond), f, nil)
		defer h.end(t)
		r, _ := h.await(Slow)
		if r.Was != Unknown {
			t.Errorf("slow after it was %v", r.Was)
		}
	})
}

// TestRunnerSlowAtOnce proves that one which is late as soon as it serves is
// found so: the answers that made it ok are its baseline.
func TestRunnerSlowAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: passes}
		h := start(t, defaults(), f, NewBudget())
		defer h.end(t)
		h.await(OK)
		begin := time.Now()
		f.become(takes(200 * time.Millisecond))
		_, when := h.await(Slow)
		if got := when.Sub(begin); got > 2500*time.Millisecond {
			t.Errorf("slow after %v, want at most 2.5s", got)
		}
	})
}

// TestRunnerShare proves what becomes of a server that gives a share of the
// answers wrongly, a failure here and there.
func TestRunnerShare(t *testing.T) {
	tests := []struct {
		name  string
		share float64
		level Level
		most  time.Duration
	}{
		{"3 %", .03, OK, 0},
		{"40 %", .40, Sick, time.Minute},
		{"60 %", .60, Sick, 20 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := defaults()
				c.Rules.Fall = 50 // So that the rows have no say.
				f := &fake{serve: passes}
				h := start(t, c, f, NewBudget())
				defer h.end(t)
				h.await(OK)
				var mu sync.Mutex
				r := rand.New(rand.NewPCG(1, 2))
				f.become(func(ctx context.Context) Result {
					mu.Lock()
					defer mu.Unlock()
					if r.Float64() < tt.share {
						return servfail(ctx)
					}
					return passes(ctx)
				})
				fault := time.Now()
				if tt.level != OK {
					r, when := h.await(tt.level)
					if got := when.Sub(fault); got > tt.most {
						t.Errorf("%v after %v", tt.level, got)
					}
					if !strings.HasSuffix(r.Verdict.Reason, " probes failed or were late: SERVFAIL") {
						t.Errorf("reason %q", r.Verdict.Reason)
					}
				}
				time.Sleep(time.Hour)
				for len(h.reports) > 0 {
					if r := <-h.reports; r.Verdict.Level != tt.level {
						t.Fatalf("%v: %s", r.Verdict.Level, r.Verdict.Reason)
					}
				}
			})
		})
	}
}

// TestRunnerMostlyWrong proves that a server most of whose answers are wrong
// does not come back by a lucky row, with the default fall.
func TestRunnerMostlyWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: passes}
		h := start(t, defaults(), f, NewBudget())
		defer h.end(t)
		h.await(OK)
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(3, 4))
		f.become(func(ctx context.Context) Result {
			mu.Lock()
			defer mu.Unlock()
			if r.Float64() < .6 {
				return servfail(ctx)
			}
			return passes(ctx)
		})
		h.await(Sick)
		time.Sleep(24 * time.Hour)
		left := 0
		for len(h.reports) > 0 {
			if r := <-h.reports; r.Verdict.Level == OK {
				left++
			}
		}
		if left > 0 {
			t.Errorf("it was ok %d times within a day", left)
		}
	})
}

// TestRunnerRestart proves that an outage leaves no mark: once a server that was
// down for long answers again, `rise` passes are enough.
func TestRunnerRestart(t *testing.T) {
	for name, outage := range map[string]func(context.Context) Result{"refused": refuses, "silent": hangs, "wrong": servfail} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{serve: takes(2 * time.Millisecond)}
				h := start(t, fixed(50*time.Millisecond), f, NewBudget())
				defer h.end(t)
				time.Sleep(30 * time.Second)
				f.become(outage)
				time.Sleep(10 * time.Minute)
				drain(h)
				f.become(takes(2 * time.Millisecond))
				up := time.Now()
				_, when := h.await(OK)
				if got := when.Sub(up); got > 5*time.Second {
					t.Errorf("ok after %v, want at most 5s", got)
				}
			})
		})
	}
}

// TestRunnerRestarts proves that a server which is restarted again and again is
// not called gray: each time it is dead, and up again after `rise` passes.
func TestRunnerRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixed(50 * time.Millisecond)
		c.Rules.Rise = 2
		f := &fake{serve: takes(2 * time.Millisecond)}
		h := start(t, c, f, NewBudget())
		defer h.end(t)
		h.await(OK)
		for i := range 50 {
			f.become(refuses)
			h.await(Dead)
			time.Sleep(time.Duration(i%4) * 500 * time.Millisecond)
			f.become(takes(2 * time.Millisecond))
			up := time.Now()
			if _, when := h.await(OK); when.Sub(up) > 3*time.Second {
				t.Fatalf("restart %d: ok after %v", i, when.Sub(up))
			}
		}
	})
}
