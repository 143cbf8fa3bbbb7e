package probe

import (
	"fmt"
	"math"
	"time"
)

// Defaults of the SlowTest, chosen by simulation (docs/gray-failure.md).
const (
	DefaultTolerate  = 0.05
	DefaultActAt     = 0.30
	DefaultThreshold = 12
)

const (
	// slowSlot is how long samples hang together: one cause may lie behind all
	// that is bad within it.
	slowSlot = 300 * time.Millisecond
	// slowSlots is in how many slots bad samples must lie to lead to a verdict.
	slowSlots = 3
	// runSlots is in how many slots bad samples with no good one between count,
	// as long as they last for less than slowStall.
	runSlots = 2
	// slowStall is how long what is bad must last to lead to a verdict: less may
	// be one stall, however many probes it hit.
	slowStall = time.Second
	// watchPace is the time between steady probes while there is some evidence.
	watchPace = 150 * time.Millisecond
	// shareMost bounds the share of bad samples that the way back is weighed
	// against: a server that was bad throughout may come back half well.
	shareMost = 0.50
	// causesMost is over how many bad samples their causes are weighed.
	causesMost = 20
)

// SlowTest are the numbers of the sequential test for gray failure. A zero
// Threshold in a Rules that no Runner has completed turns the test off.
type SlowTest struct {
	// Tolerate is the share of bad samples that is let pass, ActAt the share that
	// is acted on: 0 < Tolerate < ActAt < 1.
	Tolerate, ActAt float64
	// Threshold is the weight of evidence that makes a verdict, in nats.
	Threshold float64
}

// completed returns the numbers with the defaults in place of zeros.
func (t SlowTest) completed() SlowTest {
	if t.Tolerate == 0 {
		t.Tolerate = DefaultTolerate
	}
	if t.ActAt == 0 {
		t.ActAt = DefaultActAt
	}
	if t.Threshold == 0 {
		t.Threshold = DefaultThreshold
	}
	return t
}

// on tells whether the test is made at all.
func (t SlowTest) on() bool { return t.Threshold > 0 }

// bad is by how much a bad sample speaks for the share acted on.
func (t SlowTest) bad() float64 { return math.Log(t.ActAt / t.Tolerate) }

// good is by how much a good sample speaks for the share let pass.
func (t SlowTest) good() float64 { return math.Log((1 - t.Tolerate) / (1 - t.ActAt)) }

// back is the test of the way back from a verdict that a share of bad samples
// led to: it asks whether as few are bad as are let pass, or still as many.
func (t SlowTest) back(share float64) SlowTest {
	t.ActAt = max(t.ActAt, min(share, shareMost))
	return t
}

// fault is why a sample is bad.
type fault uint8

// The faults.
const (
	late   fault = iota // outstanding for too long
	failed              // wrong, or not answered by the deadline
)

// evidence is the state of the sequential test (a CUSUM, Page 1954) over the
// samples of one check. It is a plain value.
//
// The score is the weight of the evidence that as many samples are bad as are
// acted on, rather than as few as are let pass. It is never below zero and
// never above the threshold. Reaching the threshold is the verdict; coming back
// to zero ends it. The steps of the way back are those of a test against the
// share that led to the verdict: the worse it was, the sooner a row of good
// samples says that it is over.
//
// Samples that lie together are not independent: a stall of 200 ms makes every
// probe late that suspicion sends into it. So within one slot the score rises by
// no more than one bad sample's worth (and falls by no more than one good one's
// while the verdict stands), and bad samples with no good one between count in
// runSlots of them at most. Only when nothing at all has been good for slowStall
// do all of them count, since a stall that long is what the test is to find.
type evidence struct {
	score float64
	stuck bool    // the verdict stands
	share float64 // of bad samples that led to it

	began  time.Time // the first bad sample since the score was zero
	slots  int       // in how many slots bad samples lay since
	counts [2]int    // bad samples by fault, of late
	bads   int       // bad samples from began to the verdict
	all    int       // samples from began to the verdict

	slot  time.Time // when the slot that lasts began
	base  float64   // the score then
	dirty bool      // it has a bad sample

	since time.Time // the first bad sample since the last good one
	run   int       // in how many slots since then they counted
	held  int       // bad samples since then that did not count in full

	life string // what showed life beside the samples, for people
}

// good returns the evidence after a good sample at the time at.
func (e evidence) good(t SlowTest, at time.Time) evidence {
	e = e.enter(at)
	if !e.stuck {
		e.all++
	}
	e.since, e.run, e.held = time.Time{}, 0, 0
	least := 0.0
	if e.stuck {
		t = t.back(e.share)
		least = max(0, e.base-t.good())
	}
	e.score = max(least, e.score-t.good())
	if e.score == 0 {
		return evidence{slot: e.slot}
	}
	return e
}

// bad returns the evidence after a bad sample at the time at.
func (e evidence) bad(t SlowTest, f fault, at time.Time) evidence {
	e = e.enter(at)
	fresh := e.since.IsZero() || !e.dirty && e.run < runSlots
	e = e.note(f, at)
	if e.stuck {
		t = t.back(e.share)
	}
	step := t.bad()
	switch {
	case e.stuck:
	case fresh:
		e.run++
		step = min(step, max(0, e.base+t.bad()-e.score))
	default:
		step = 0
	}
	if step < t.bad() {
		e.held++
	}
	if at.Sub(e.since) >= slowStall && e.slots >= slowSlots {
		step += float64(e.held) * t.bad()
		e.held = 0
	}
	e.score = min(e.score+step, t.Threshold)
	if e.score >= t.Threshold && e.slots >= slowSlots && at.Sub(e.began) >= slowStall {
		e.stuck, e.share = true, float64(e.bads)/float64(e.all)
	}
	return e
}

// whileDown returns the evidence after a result that came while the check was
// down for another reason. A row of failures is one bad sample then: the fall is
// their verdict, and an outage that is over says nothing against the return.
func (e evidence) whileDown(t SlowTest, res Result) evidence {
	switch {
	case res.Cause.failed() && e.since.IsZero():
		return e.bad(t, failed, res.Done)
	case res.Cause.failed():
		return e
	case res.Late:
		return e.bad(t, late, res.Done)
	}
	return e.good(t, res.Done)
}

// enter begins a new slot at the time at if the last one is over.
func (e evidence) enter(at time.Time) evidence {
	if e.slot.IsZero() || at.Sub(e.slot) >= slowSlot {
		e.slot, e.base, e.dirty = at, e.score, false
	}
	return e
}

// note takes a bad sample into the counts.
func (e evidence) note(f fault, at time.Time) evidence {
	if e.score == 0 {
		e = evidence{slot: e.slot, base: 0, began: at}
	}
	if e.since.IsZero() {
		e.since = at
	}
	if !e.dirty {
		e.dirty = true
		e.slots++
	}
	if e.counts[late]+e.counts[failed] >= causesMost {
		e.counts[late] /= 2
		e.counts[failed] /= 2
	}
	e.counts[f]++
	if !e.stuck {
		e.bads++
		e.all++
	}
	return e
}

// recast notes that the newest late sample has failed.
func (e evidence) recast() evidence {
	if e.counts[late] > 0 {
		e.counts[late]--
		e.counts[failed]++
	}
	return e
}

// level returns what most of the bad samples say.
func (e evidence) level() Level {
	if e.counts[failed] > e.counts[late] {
		return Sick
	}
	return Slow
}

// reason says what led to the verdict, for people.
func (e evidence) reason(outcome string) string {
	if e.level() == Sick {
		return fmt.Sprintf("%d of %d probes failed or were late: %s", e.bads, e.all, outcome) + beside(e.life)
	}
	return fmt.Sprintf("%d of %d probes were late", e.bads, e.all)
}

// watched tells whether a closer look is due: what was bad has not been made
// good, and is no verdict either.
func (e evidence) watched() bool { return !e.stuck && e.score > 0 }
