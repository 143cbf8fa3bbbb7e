package probe

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// living is a fake whose server has signs of life and may answer late.
type living struct {
	*fake
	signs []Sign
	late  Late // of every probe that was silent
}

// Signs returns the signs.
func (l living) Signs() []Sign { return l.signs }

// ProbePatiently makes a probe.
func (l living) ProbePatiently(ctx context.Context) (Result, Late) {
	res := l.Probe(ctx)
	if res.Cause != Silent {
		return res, nil
	}
	return res, l.late
}

// mute is a sign that never shows.
func mute(ctx context.Context) string {
	<-ctx.Done()
	return ""
}

// shows is a sign that always shows.
func shows(what string) Late {
	return func(context.Context) string { return what }
}

// counted counts how often a sign is asked for.
func counted(n *atomic.Int64, s Sign) Sign {
	look := s.Look
	s.Look = func(ctx context.Context) string {
		n.Add(1)
		return look(ctx)
	}
	return s
}

// TestRunnerLife proves what a server that leaves the check's question
// unanswered is, by what else it shows, and that this stays so.
func TestRunnerLife(t *testing.T) {
	tests := []struct {
		name   string
		signs  []Sign
		late   Late
		level  Level
		reason string // its end
	}{
		{"nothing", []Sign{{Paid: true, Look: mute}, {Look: mute}}, mute, Dead, "no sign of life for 3s: timeout"},
		{"no signs to ask for", nil, mute, Dead, "no sign of life for 3s: timeout"},
		{"one of many", []Sign{{Paid: true, Look: mute}, {Look: mute}, {Paid: true, Look: shows("still answers . NS")}},
			mute, Sick, " failures in a row: timeout; still answers . NS"},
		{"over TCP", []Sign{{Paid: true, Look: mute}, {Look: shows("answers over TCP")}}, mute, Sick, "; answers over TCP"},
		{"a late answer", nil, lateBy(4 * time.Second), Sick, "; answers after 4s"},
		{"an answer that is too late", nil, lateBy(6 * time.Second), Dead, "no sign of life for 3s: timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := living{fake: &fake{serve: passes}, signs: tt.signs, late: tt.late}
				h := start(t, defaults(), f, NewBudget())
				defer h.end(t)
				h.await(OK)
				f.become(hangs)
				h.await(Sick)
				time.Sleep(10 * time.Second)
				drain(h)
				time.Sleep(10 * time.Minute)
				last := <-h.reports
				for len(h.reports) > 0 {
					if last = <-h.reports; last.Verdict.Level != tt.level {
						t.Fatalf("%v: %s", last.Verdict.Level, last.Verdict.Reason)
					}
				}
				if !strings.HasSuffix(last.Verdict.Reason, tt.reason) {
					t.Errorf("reason %q, want one that ends with %q", last.Verdict.Reason, tt.reason)
				}
			})
		})
	}
}

// lateBy answers so long after the deadline.
func lateBy(d time.Duration) Late {
	return func(ctx context.Context) string {
		select {
		case <-time.After(d):
			return "answers after " + d.String()
		case <-ctx.Done():
			return ""
		}
	}
}

// drain takes out what was reported so far.
func drain(h *bench) {
	for len(h.reports) > 0 {
		<-h.reports
	}
}

// TestRunnerDeadExactly proves that the search for life costs a dead server no
// time: it is dead silent_after after the first unanswered probe.
func TestRunnerDeadExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := living{fake: &fake{serve: passes}, signs: []Sign{{Paid: true, Look: mute}, {Look: mute}}, late: mute}
		h := start(t, defaults(), f, NewBudget())
		defer h.end(t)
		h.await(OK)
		f.become(hangs)
		fault := time.Now()
		_, when := h.await(Dead)
		if got := when.Sub(fault); got != time.Second+DefaultSilentAfter {
			t.Errorf("dead after %v, want 4s", got)
		}
	})
}

// TestRunnerShowsLife proves that a server which was dead and now hangs is sick
// as soon as a sign shows.
func TestRunnerShowsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		sign := Sign{Paid: true, Look: func(ctx context.Context) string {
			if up.Load() {
				return "still answers . NS"
			}
			return mute(ctx)
		}}
		f := living{fake: &fake{serve: passes}, signs: []Sign{sign}, late: mute}
		h := start(t, defaults(), f, NewBudget())
		defer h.end(t)
		h.await(OK)
		f.become(hangs)
		h.await(Dead)
		up.Store(true)
		begin := time.Now()
		r, when := h.await(Sick)
		if got := when.Sub(begin); got > DefaultSilentAfter {
			t.Errorf("sick %v after it came up, want at most %v", got, DefaultSilentAfter)
		}
		if r.Was != Dead || !strings.HasSuffix(r.Verdict.Reason, "still answers . NS") {
			t.Errorf("unexpected report %+v", r)
		}
	})
}

// TestRunnerSignsPace proves how often signs are asked for: not at all while
// the check is well or merely slow, once a second while one shows, all of them
// in turn while none does.
func TestRunnerSignsPace(t *testing.T) {
	tests := []struct {
		name        string
		serve       func(context.Context) Result
		look        Late
		least, most int64 // within a minute
	}{
		{"well", passes, mute, 0, 0},
		{"slow", takes(200 * time.Millisecond), mute, 0, 2},
		{"wrong", servfail, mute, 0, 0},
		{"refused", refuses, mute, 0, 0},
		{"hangs and lives", hangs, shows("x"), 55, 61},
		{"hangs and is dead", hangs, mute, 76, 90},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				sign := counted(&n, Sign{Paid: true, Look: tt.look})
				f := living{fake: &fake{serve: passes}, signs: []Sign{sign, sign, sign, sign}, late: mute}
				h := start(t, defaults(), f, NewBudget())
				defer h.end(t)
				h.await(OK)
				f.become(tt.serve)
				time.Sleep(time.Minute)
				if got := n.Load(); got < tt.least || got > tt.most {
					t.Errorf("%d signs within a minute, want %d to %d", got, tt.least, tt.most)
				}
			})
		})
	}
}

// TestRunnerSignsBudget proves that signs stay within the server's budget and
// delay none of the probes that lead to the verdict.
func TestRunnerSignsBudget(t *testing.T) {
	var all [2][]time.Duration
	for i, signs := range [][]Sign{nil, slices.Repeat([]Sign{{Paid: true, Look: mute}}, 4)} {
		synctest.Test(t, func(t *testing.T) {
			f := living{fake: &fake{serve: passes}, late: mute}
			asked := &fake{serve: hangs}
			for range signs {
				f.signs = append(f.signs, Sign{Paid: true, Look: func(ctx context.Context) string {
					asked.Probe(ctx)
					return ""
				}})
			}
			c := defaults()
			c.Rules.Fall = 8
			h := start(t, c, f, NewBudget())
			defer h.end(t)
			h.await(OK)
			f.become(hangs)
			fault := time.Now()
			h.await(Sick)
			time.Sleep(time.Minute)
			all[i] = f.times(fault)
			both := append(f.times(fault), asked.times(fault)...)
			slices.Sort(both)
			checkSpan(t, both, BudgetPerSecond, time.Second)
			checkSpan(t, both, BudgetPerMinute, time.Minute)
		})
	}
	if n := 5 + 8; !slices.Equal(all[0][:n], all[1][:n]) {
		t.Errorf("probes left at %v without signs and at %v with them", all[0][:n], all[1][:n])
	}
}

// TestRunnerLateMany proves that no more than so many late answers are awaited
// at once, and that the end of the run ends them.
func TestRunnerLateMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, most atomic.Int64
		f := living{fake: &fake{serve: hangs}}
		f.late = func(ctx context.Context) string {
			if ctx.Err() == nil {
				most.Store(max(most.Load(), out.Add(1)))
				defer out.Add(-1)
			}
			return mute(ctx)
		}
		c := defaults()
		c.Interval = 20 * time.Millisecond
		h := start(t, c, f, nil)
		time.Sleep(20 * time.Second)
		if got := most.Load(); got != lateMax {
			t.Errorf("%d late answers were awaited at once, want %d", got, lateMax)
		}
		h.end(t)
		synctest.Wait()
		if got := out.Load(); got != 0 {
			t.Errorf("%d late answers are awaited after the end", got)
		}
	})
}
