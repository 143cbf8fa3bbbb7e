package probe

import (
	"testing"
	"time"
)

// TestAutoOver proves the threshold's bounds, the strongest first.
func TestAutoOver(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name                  string
		median, timeout, want time.Duration
	}{
		{"no baseline", 0, 500 * ms, 50 * ms},
		{"no baseline, short timeout", 0, 80 * ms, 40 * ms},
		{"floor", 2 * ms, 500 * ms, 50 * ms},
		{"ten times", 12 * ms, 500 * ms, 120 * ms},
		{"half the timeout", 60 * ms, 500 * ms, 250 * ms},
		{"twice the median beats it", 200 * ms, 500 * ms, 400 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := autoOver(tt.median, tt.timeout); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestBaseline proves that only passes are learned that are in time and not on
// the way back from a failure, and that a few of them are no baseline.
func TestBaseline(t *testing.T) {
	took := func(c Cause, d time.Duration) Result { return Result{Sent: epoch, Done: epoch.Add(d), Cause: c} }
	var b baseline
	for range baselineMin {
		b.learn(Dead, took(Passed, time.Hour))
		b.learn(Slow, took(Passed, time.Hour))
		b.learn(Unknown, took(Unmade, time.Hour))
		b.learn(Sick, took(Passed, time.Hour))
		b.learn(OK, took(Silent, time.Hour))
		b.learn(OK, took(Wrong, time.Hour))
		late := took(Passed, time.Hour)
		late.Late = true
		b.learn(OK, late)
	}
	for i := range baselineMin {
		if got := b.median(); got != 0 {
			t.Fatalf("median %v after %d samples", got, i)
		}
		b.learn([]Level{OK, Unknown}[i%2], took(Passed, time.Second))
	}
	if got := b.median(); got != time.Second {
		t.Errorf("median %v, want 1s", got)
	}
}
