package probe

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestWindowFree proves the earliest time under one and under two limits.
func TestWindowFree(t *testing.T) {
	w := newWindow(limit{n: 2, span: time.Second}, limit{n: 3, span: time.Minute})
	steps := []struct{ now, free int }{ // milliseconds
		{0, 0}, {100, 100}, // two in a second
		{200, 1000},    // the first plus a second
		{1500, 60000},  // three in a minute: the first plus a minute
		{60500, 60500}, // the second left the minute at 60.1 s
		{61600, 61600}, // the third left it at 61.5 s
	}
	for i, s := range steps {
		got := w.free(at(s.now))
		if !got.Equal(at(s.free)) {
			t.Fatalf("step %d: free after %v, want %d ms", i, got.Sub(epoch), s.free)
		}
		if s.free == s.now || i == 2 {
			w.add(at(max(s.now, min(s.free, 1500))))
		}
	}
}

// TestWindowLimits proves over random arrivals that no span holds more than
// its limit and that nobody waits without need.
func TestWindowLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := []limit{
			{n: rapid.IntRange(1, 5).Draw(t, "n1"), span: time.Second},
			{n: rapid.IntRange(1, 20).Draw(t, "n2"), span: 10 * time.Second},
		}
		w := newWindow(limits...)
		var sent []time.Time
		now := epoch
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "gap")) * time.Millisecond)
			free := w.free(now)
			if free.After(now) && fits(limits, sent, free.Add(-1)) {
				t.Fatalf("has to wait until %v without need", free.Sub(epoch))
			}
			if !fits(limits, sent, free) {
				t.Fatalf("too much at %v", free.Sub(epoch))
			}
			now = free
			w.add(now)
			sent = append(sent, now)
		}
	})
}

// fits tells whether one more event at t keeps every limit.
func fits(limits []limit, sent []time.Time, t time.Time) bool {
	for _, l := range limits {
		n := 1
		for _, s := range sent {
			if s.After(t.Add(-l.span)) {
				n++
			}
		}
		if n > l.n {
			return false
		}
	}
	return true
}
