package probe

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// staller runs a check whose owner can be made to stall: a report that does not
// return is to the owner what it is not to be scheduled.
type staller struct {
	*bench
	stall chan time.Duration
	until *atomic.Pointer[time.Time] // when the newest stall ends
}

// startStaller starts the check.
func startStaller(t *testing.T, c Check, f Prober, until *atomic.Pointer[time.Time]) staller {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := staller{
		bench: &bench{reports: make(chan Report, 100_000), stop: cancel, ended: make(chan error, 1)},
		stall: make(chan time.Duration, 1),
		until: until,
	}
	s.Runner = NewRunner(c, f, nil, func(r Report) {
		select {
		case d := <-s.stall:
			end := time.Now().Add(d)
			s.until.Store(&end)
			time.Sleep(d)
		default:
		}
		s.reports <- r
	})
	go func() { s.ended <- s.Run(ctx) }()
	return s
}

// TestRunVoid proves how long a stall must be to void what is out, and that
// neither a pass nor a failure is counted then, but both are otherwise.
func TestRunVoid(t *testing.T) {
	tests := []struct {
		name          string
		stall         time.Duration
		cause         Cause
		fails, passes int
	}{
		{"a hiccup, passed", stallMin, Passed, 0, 8},
		{"a hiccup, silent", stallMin, Silent, 1, 0},
		{"a stall, passed", stallMin + 1, Passed, 0, 7},
		{"a stall, silent", stallMin + 1, Silent, 0, 7},
		{"the longest stall, silent", StallMost, Silent, 0, 7},
		{"too long a stall, passed", StallMost + 1, Passed, 0, 0},
	}
	for _, during := range []string{"asleep", "at work"} {
		for _, tt := range tests {
			t.Run(during+", "+tt.name, func(t *testing.T) {
				s := newRun(t.Context(), NewRunner(defaults(), &fake{}, nil, func(Report) {}))
				now := time.Now()
				s.verdict = Verdict{Level: OK, Ready: true, Passes: 7}
				f := &flight{sent: now, lateAt: now.Add(time.Hour), overdue: now.Add(time.Hour)}
				s.flights[f] = struct{}{}
				s.armed, s.awake = now, now
				end := now.Add(tt.stall)
				if during == "asleep" {
					s.woke(end)
				} else {
					s.rest(end)
				}
				s.land(landing{flight: f, result: Result{Sent: now, Done: end, Cause: tt.cause}})
				if s.verdict.Fails != tt.fails || s.verdict.Passes != tt.passes {
					t.Errorf("%d fails and %d passes, want %d and %d", s.verdict.Fails, s.verdict.Passes, tt.fails, tt.passes)
				}
			})
		}
	}
}

// TestVerdictStalled proves that a silence does not grow while nobody looks.
func TestVerdictStalled(t *testing.T) {
	v := Verdict{}
	for i := range 3 {
		v = v.Next(usual, Result{Sent: at(i * 50), Done: at(i*50 + 500), Cause: Silent})
	}
	v = v.stalled(2 * time.Second)
	if due, ok := v.Due(usual); !ok || !due.Equal(at(5000)) {
		t.Errorf("dead after %v, want 5s", due.Sub(epoch))
	}
	if v.row.blind != (time.Time{}) {
		t.Error("it is blind since the stall")
	}
}

// TestRunnerSelfStalls proves that a process that is stopped for 400 ms again
// and again, with answers that wait for it, finds nothing wrong with a server
// that is well.
func TestRunnerSelfStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixed(200 * time.Millisecond)
		c.Interval = 100 * time.Millisecond
		var until atomic.Pointer[time.Time]
		f := &fake{serve: func(ctx context.Context) Result {
			res := takes(150 * time.Millisecond)(ctx)
			if stopped := until.Load(); stopped != nil {
				time.Sleep(time.Until(*stopped))
			}
			return res
		}}
		s := startStaller(t, c, f, &until)
		defer s.end(t)
		s.await(OK)
		for range 50 {
			s.stall <- 400 * time.Millisecond
			time.Sleep(1710 * time.Millisecond)
		}
		n := len(s.reports)
		for len(s.reports) > 0 {
			if r := <-s.reports; r.Verdict.Level != OK || r.Verdict.Fails > 0 || r.Result.Late {
				t.Fatalf("unexpected report %+v", r)
			}
		}
		// One every 100 ms, but none in the stalls, and some of each thrown away.
		if n < 500 || n > 50*(17-4) {
			t.Errorf("%d reports", n)
		}
	})
}

// TestRunnerBeginsAnew proves what a stall of more than 3 s leaves: nothing, a
// reason, and a check that comes up like any other.
func TestRunnerBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: passes}
		s := startStaller(t, defaults(), f, new(atomic.Pointer[time.Time]))
		defer s.end(t)
		s.await(OK)
		s.stall <- 4200 * time.Millisecond
		r, when := s.await(Unknown)
		if want := "stalled for 4.2 s: begins anew"; r.Verdict.Reason != want || r.Was != OK {
			t.Errorf("was %v, reason %q, want ok and %q", r.Was, r.Verdict.Reason, want)
		}
		if r.Verdict.Ready || r.Verdict.Passes != 0 || !r.Verdict.LastLife.IsZero() {
			t.Errorf("something is left: %+v", r.Verdict)
		}
		begin := when
		if _, when = s.await(OK); when.Sub(begin) != 4*time.Second {
			t.Errorf("ok after %v, want 4s", when.Sub(begin))
		}
	})
}
