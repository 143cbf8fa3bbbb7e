package probe

import (
	"testing"
	"time"
)

// watched is the check of the schedule's tables: every second, fast every 50 ms.
var watched = Check{Interval: time.Second, FastInterval: 50 * time.Millisecond}

// out returns the schedule of a ready check whose last probe left at 0.
func out() schedule { return newSchedule(watched, at(0)).sent(at(0)) }

// TestScheduleNext proves when the next probe leaves after each event.
func TestScheduleNext(t *testing.T) {
	ready := Verdict{Level: OK, Ready: true}
	failing := Verdict{Level: OK, Ready: true, Fails: 1}
	fallen := Verdict{Level: Sick, Fails: 3}
	res := func(c Cause, sent int) Result { return Result{Sent: at(sent), Cause: c} }
	tests := []struct {
		name       string
		schedule   schedule
		next       int // milliseconds
		suspicious bool
	}{
		{"at once", newSchedule(watched, at(0)), 0, false},
		{"steady", out(), 1000, false},
		{"steady on its grid", out().sent(at(1003)), 2000, false},
		{"no burst after a wait", out().sent(at(2500)), 3500, false},
		{"a pass", out().after(ready, res(Passed, 0), false, at(1)), 1000, false},
		{"a failure", out().after(failing, res(Wrong, 0), false, at(1)), 51, true},
		{"a late probe", out().doubt(at(50)), 100, true},
		{"late, but the next is due sooner", out().doubt(at(980)), 1000, true},
		{"late twice", out().doubt(at(50)).doubt(at(60)), 100, true},
		{"fast", out().doubt(at(50)).sent(at(100)), 150, true},
		{"refused", out().after(failing, res(Refused, 0), false, at(0)), 5, true},
		{"refused again", out().after(failing, res(Refused, 0), false, at(0)).sent(at(5)).
			after(failing, res(Refused, 5), false, at(5)), 10, true},
		{"a failure that does not count", out().after(ready, res(Silent, 0), false, at(500)), 1000, false},
		{"a refusal that does not count", out().after(ready, res(Refused, 0), false, at(500)), 1000, false},
		{"trip", out().trip(at(300)), 300, true},
		{"fallen", out().doubt(at(50)).sent(at(100)).after(fallen, res(Silent, 0), false, at(600)), 1100, false},
		{"fails on after the fall", out().after(fallen, res(Refused, 0), false, at(1)), 1000, false},
		{"clear", out().doubt(at(50)).sent(at(100)).after(ready, res(Passed, 100), false, at(101)), 1100, false},
		{"not clear, one is late", out().doubt(at(50)).sent(at(100)).after(ready, res(Passed, 0), true, at(120)), 150, true},
		{"not clear, a newer one failed", out().doubt(at(50)).sent(at(100)).after(failing, res(Passed, 0), false, at(120)), 150, true},
		{"not clear, it left before the trip", out().trip(at(300)).sent(at(300)).after(ready, res(Passed, 0), false, at(301)), 305, true},
		{"clear after the trip", out().trip(at(300)).sent(at(300)).after(ready, res(Passed, 300), false, at(301)), 1300, false},
		{"fast again after the second look", out().trip(at(300)).sent(at(300)).sent(at(305)), 355, true},
		{"an unmade one clears nothing", out().doubt(at(50)).sent(at(100)).after(ready, res(Unmade, 100), false, at(101)), 150, true},
		{"unknown", out().doubt(at(50)).sent(at(100)).after(Verdict{Level: Unknown, Ready: true}, res(Unmade, 100), false, at(101)), 1100, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.schedule
			if !s.next.Equal(at(tt.next)) || s.suspicious != tt.suspicious {
				t.Errorf("next after %v, suspicious %v, want %d ms, %v", s.next.Sub(epoch), s.suspicious, tt.next, tt.suspicious)
			}
		})
	}
}

// TestScheduleFast proves that the fast interval never exceeds the interval.
func TestScheduleFast(t *testing.T) {
	for _, fast := range []time.Duration{0, time.Hour} {
		s := newSchedule(Check{Interval: time.Second, FastInterval: fast}, at(0))
		if s.fast != time.Second {
			t.Errorf("fast interval %v of %v, want 1s", s.fast, fast)
		}
	}
}
