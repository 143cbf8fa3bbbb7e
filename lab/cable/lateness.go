package cable

import (
	"math/bits"
	"time"
)

// Lateness is how much later than due frames left.
type Lateness struct {
	Frames      uint64
	Median, P99 time.Duration // to within 1/16
	Worst       time.Duration
}

// A bucket holds what agrees in its highest set bit and the four below it.
const (
	fine    = 4
	buckets = (64 - fine) << fine
)

// histogram counts durations in buckets whose width is 1/16 of their value.
type histogram struct {
	count [buckets]uint64
	total uint64
	worst time.Duration
}

// add counts one duration; less than none counts as none.
func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.count[bucket(uint64(d))]++
	h.total++
	h.worst = max(h.worst, d)
}

// bucket is the number of the bucket that holds v.
func bucket(v uint64) int {
	if v < 1<<fine {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - fine
	return shift<<fine + int(v>>shift)
}

// top is the largest value that the bucket holds.
func top(b int) uint64 {
	if b < 2<<fine {
		return uint64(b)
	}
	shift := b>>fine - 1
	return uint64(b-shift<<fine+1)<<shift - 1
}

// quantile is the value that the share q of all does not exceed, rounded up to
// its bucket's top, or the worst if that is less.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.total))
	var seen uint64
	for b, n := range h.count {
		if seen += n; seen > rank {
			return min(time.Duration(top(b)), h.worst)
		}
	}
	return h.worst
}

// summary is the histogram's Lateness.
func (h *histogram) summary() Lateness {
	return Lateness{h.total, h.quantile(0.5), h.quantile(0.99), h.worst}
}
