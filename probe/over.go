package probe

import "time"

const (
	// overFloor is the least automatic threshold, and the one in force before
	// there is a baseline: less would call a scheduler's hiccup slow.
	overFloor = 50 * time.Millisecond
	// overFactor times the healthy median is late.
	overFactor = 10
	// baselineMin is how many healthy samples make a baseline. It is not above
	// the default of rise, so that a server which serves can be found late.
	baselineMin = 5
)

// autoOver returns the threshold of lateness for a healthy median: ten times
// that, not below 50 ms, not above half the timeout, and never below twice the
// median. A median of zero stands for no baseline yet.
func autoOver(median, timeout time.Duration) time.Duration {
	over := max(overFactor*median, overFloor)
	over = min(over, timeout/2)
	return max(over, 2*median)
}

// backOver returns the threshold of lateness while a verdict of gray failure
// stands: half of what it was for, so that a server on the edge does not come
// and go, but not so little that a healthy one would be late.
func backOver(over, median time.Duration) time.Duration {
	return max(over/2, min(over, 2*median))
}

// baseline learns what is healthy for one check.
type baseline struct {
	seen latencies
	mid  time.Duration // the median of what was seen
}

// learn takes a result in if it is healthy: passed, in time, at level OK or on
// the way there from a start. A late one is evidence against the server, and
// learned it would excuse itself: fast probes of a suspicion are many, and a young
// baseline is small. So would one on the way back from a failure.
func (b *baseline) learn(level Level, res Result) {
	if (level == OK || level == Unknown) && res.Cause == Passed && !res.Late {
		b.seen.add(res.RTT())
		b.mid = b.seen.stats().P50
	}
}

// known tells whether enough is known to call anything late.
func (b *baseline) known() bool { return len(b.seen.ring) >= baselineMin }

// median returns the healthy median, zero as long as too little is known.
func (b *baseline) median() time.Duration {
	if !b.known() {
		return 0
	}
	return b.mid
}
