package probe

import (
	"testing"
	"time"
)

// bounded are checks of several settings.
func bounded() map[string]Check {
	quick := defaults()
	quick.Interval, quick.Timeout = 100*time.Millisecond, 150*time.Millisecond
	patient := defaults()
	patient.Timeout, patient.Over, patient.Rules.Fall = 3*time.Second, 400*time.Millisecond, 5
	steady := defaults()
	steady.FastInterval = steady.Interval
	sure := defaults()
	sure.Rules.Slow.Threshold = 40
	rough := defaults()
	rough.Rules.Slow = SlowTest{Threshold: 1}
	return map[string]Check{"the defaults": defaults(), "quick": quick, "patient": patient,
		"no fast probes": steady, "a heavy threshold": sure, "a light one": rough}
}

// TestBoundsHold proves by simulation that no verdict takes longer than its
// bound, at whatever phase, and that the bound is not made of air.
func TestBoundsHold(t *testing.T) {
	for name, c := range bounded() {
		c.Over = c.lateAfter()
		for kind, tt := range map[string]struct {
			bound  Bound
			answer server
		}{
			"hangs": {c.BoundHang(), func(time.Duration) (time.Duration, bool) { return 0, false }},
			"late": {c.BoundSlow(), func(time.Duration) (time.Duration, bool) {
				return c.Over + time.Millisecond, true
			}},
		} {
			worst := time.Duration(0)
			for phase := range 100 {
				s := simulate(c, tt.answer)
				s.plan.next = epoch.Add(c.Interval * time.Duration(phase+1) / 100)
				s.run(time.Hour)
				worst = max(worst, s.now.Sub(epoch))
			}
			if most := tt.bound.Sum(); worst > most || worst < most/2 {
				t.Errorf("%s, %s: %v at worst, the bound is %v: %s", name, kind, worst, most, tt.bound)
			}
		}
	}
}

// TestBounds writes the terms of the defaults.
func TestBounds(t *testing.T) {
	c := defaults()
	serial := c
	serial.Serial, serial.FastInterval, serial.Timeout = true, time.Second, 2*time.Second
	late := c
	late.Over = c.Timeout
	tests := []struct {
		name string
		got  Bound
		want string
		sum  time.Duration
	}{
		{"gone", c.BoundGone(true), "tripwire 3ms + 2 x refused again after 5ms", 13 * time.Millisecond},
		{"gone, no wire", c.BoundGone(false), "interval 1s + 2 x refused again after 5ms", 1010 * time.Millisecond},
		{"hangs", c.BoundHang(), "interval 1s + over 50ms + 2 x fast_interval 50ms + timeout 500ms", 1650 * time.Millisecond},
		{"hangs, serial", serial.BoundHang(), "interval 1s + 3 x timeout 2s + 2 x fast_interval 1s", 9 * time.Second},
		{"wrong", c.BoundWrong(), "interval 1s + 2 x fast_interval 50ms", 1100 * time.Millisecond},
		{"slow", c.BoundSlow(), "interval 1s + over 50ms + least duration 1s + slot 300ms", 2350 * time.Millisecond},
		{"slow, serial", serial.BoundSlow(), "interval 1s + over 50ms + 6 x time between samples 2s + slot 2s", 15050 * time.Millisecond},
		{"late at the timeout", late.BoundSlow(), "", 0},
	}
	for _, tt := range tests {
		if tt.got.String() != tt.want || tt.got.Sum() != tt.sum {
			t.Errorf("%s: %s = %s, want %s = %s", tt.name, tt.got, tt.got.Sum(), tt.want, tt.sum)
		}
	}
}
