package probe

import (
	"slices"
	"time"
)

// samples is how many latencies the shown percentiles and the baseline span.
const samples = 300

// Stats are latency percentiles over the last 300 samples. A timeout counts
// with the time that was waited; what was refused or not made does not count.
type Stats struct {
	P50, P95, P99 time.Duration
	// N is how many samples there are.
	N int
}

// latencies is a ring of the newest samples. The zero value is empty.
type latencies struct {
	ring []time.Duration
	next int
}

// add puts a sample in, and the oldest out once there are 300.
func (l *latencies) add(d time.Duration) {
	if len(l.ring) < samples {
		l.ring = append(l.ring, d)
		return
	}
	l.ring[l.next] = d
	l.next = (l.next + 1) % samples
}

// stats returns the percentiles, all zero if there is no sample.
func (l *latencies) stats() Stats {
	sorted := slices.Clone(l.ring)
	slices.Sort(sorted)
	return Stats{
		P50: percentile(sorted, 50),
		P95: percentile(sorted, 95),
		P99: percentile(sorted, 99),
		N:   len(sorted),
	}
}

// percentile returns the nearest-rank percentile p (1 to 100) of sorted
// samples: the least one that p percent of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100
	return sorted[rank-1]
}
