package bfd

import (
	"math/bits"
	"time"
)

// latenessBuckets is how many buckets there are: the last one begins at half
// a second.
const latenessBuckets = 21

// A Lateness tells how late packets left after the moment that was planned
// for them. Peers that count on Multiplier intervals lose their patience
// with a lateness of about Multiplier-1 intervals.
type Lateness struct {
	Worst time.Duration

	// Buckets counts packets by the power of two of their lateness in
	// microseconds: Buckets[n] holds those below 1<<n that no earlier one
	// holds, the last one all others.
	Buckets [latenessBuckets]uint64
}

// add counts one packet.
func (l *Lateness) add(d time.Duration) {
	l.Worst = max(l.Worst, d)
	n := bits.Len64(uint64(max(d, 0) / time.Microsecond))
	l.Buckets[min(n, latenessBuckets-1)]++
}

// Quantile returns a bound that the share q, 0 to 1, of the packets did not
// reach, exact to a factor of two, and never above Worst.
func (l *Lateness) Quantile(q float64) time.Duration {
	var total, seen uint64
	for _, n := range l.Buckets {
		total += n
	}
	for i, n := range l.Buckets {
		seen += n
		if total > 0 && float64(seen) >= q*float64(total) {
			return min(l.Worst, time.Microsecond<<i)
		}
	}
	return l.Worst
}
