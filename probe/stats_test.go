package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStats proves the nearest-rank percentiles over the newest 300 samples.
func TestStats(t *testing.T) {
	tests := []struct {
		name     string
		from, to int // samples of so many milliseconds
		want     Stats
	}{
		{"none", 1, 0, Stats{}},
		{"one", 7, 7, Stats{P50: 7, P95: 7, P99: 7, N: 1}},
		{"two", 1, 2, Stats{P50: 1, P95: 2, P99: 2, N: 2}},
		{"hundred", 1, 100, Stats{P50: 50, P95: 95, P99: 99, N: 100}},
		{"full", 1, 300, Stats{P50: 150, P95: 285, P99: 297, N: 300}},
		{"the oldest leave", 1, 1000, Stats{P50: 850, P95: 985, P99: 997, N: 300}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l latencies
			for i := tt.from; i <= tt.to; i++ {
				l.add(time.Duration(i))
			}
			if diff := cmp.Diff(tt.want, l.stats()); diff != "" {
				t.Errorf("unexpected percentiles (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatsUnsorted proves that the order of the samples does not matter and
// that looking does not change it.
func TestStatsUnsorted(t *testing.T) {
	var l latencies
	for i := range 101 {
		// Multiples of 7 modulo a prime come in no order, each once.
		l.add(time.Duration(i * 7 % 101))
	}
	want := Stats{P50: 50, P95: 95, P99: 99, N: 101}
	for range 2 {
		if diff := cmp.Diff(want, l.stats()); diff != "" {
			t.Errorf("unexpected percentiles (-want +got):\n%s", diff)
		}
	}
	if l.ring[1] != 7 {
		t.Error("the samples were reordered")
	}
}
