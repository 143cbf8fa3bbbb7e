package probe

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// tripAfter is what the kernel takes to tell that a socket is gone, as measured.
const tripAfter = 3 * time.Millisecond

// Term is one part of a bound: a span, so many times.
type Term struct {
	Name  string
	Times int
	Span  time.Duration
}

// String gives it as "2 x fast_interval 50ms".
func (t Term) String() string {
	if t.Times == 1 {
		return fmt.Sprintf("%s %s", t.Name, t.Span)
	}
	return fmt.Sprintf("%d x %s %s", t.Times, t.Name, t.Span)
}

// Bound is the longest time from a fault to its verdict, term by term. What
// the machine itself takes, some milliseconds, is not in it.
type Bound []Term

// Sum adds the terms up.
func (b Bound) Sum() (d time.Duration) {
	for _, t := range b {
		d += time.Duration(t.Times) * t.Span
	}
	return d
}

// String gives the terms as a sum.
func (b Bound) String() string {
	var list []string
	for _, t := range b {
		if t.Times > 0 {
			list = append(list, t.String())
		}
	}
	return strings.Join(list, " + ")
}

// further is how many failures must follow a first one.
func (c Check) further() int { return atLeastOne(c.Rules.Fall) - 1 }

// lateAfter is for how long a probe may be out before it is late: as configured,
// or the least of what is learned.
func (c Check) lateAfter() time.Duration {
	if c.Over > 0 {
		return c.Over
	}
	return autoOver(0, c.Timeout)
}

// BoundGone bounds the verdict over a server of which nothing listens any more.
// With a tripwire the first look is not waited for.
func (c Check) BoundGone(wired bool) Bound {
	first := Term{"interval", 1, c.Interval}
	if wired {
		first = Term{"tripwire", 1, tripAfter}
	}
	return Bound{first, {"refused again after", c.further(),
		min(refusedAfter, newSchedule(c, time.Time{}).fast)}}
}

// BoundHang bounds that over a server which takes every question and answers
// none.
func (c Check) BoundHang() Bound {
	fast := newSchedule(c, time.Time{}).fast
	if c.Serial {
		return Bound{{"interval", 1, c.Interval}, {"timeout", c.further() + 1, c.Timeout},
			{"fast_interval", c.further(), fast}}
	}
	return Bound{{"interval", 1, c.Interval}, {"over", 1, min(c.lateAfter(), c.Timeout)},
		{"fast_interval", c.further(), fast}, {"timeout", 1, c.Timeout}}
}

// BoundWrong bounds that over a server which gives wrong answers, and gives them
// promptly; what an answer takes is not in it.
func (c Check) BoundWrong() Bound {
	return Bound{{"interval", 1, c.Interval},
		{"fast_interval", c.further(), newSchedule(c, time.Time{}).fast}}
}

// BoundSlow bounds that over a server whose every answer is right and late: the
// samples that weigh the threshold, or the least duration of what is bad, and a
// slot more until the next one counts. It is nothing where a probe times out
// before it is late.
func (c Check) BoundSlow() Bound {
	t := c.Rules.Slow.completed()
	if c.lateAfter() >= c.Timeout {
		return nil
	}
	gap := max(newSchedule(c, time.Time{}).fast, 2*time.Second/urgentPerTwoSeconds)
	if c.Serial {
		gap = max(gap, c.Timeout)
	}
	enough := Term{"least duration", 1, slowStall}
	gaps := int(math.Ceil(t.Threshold/t.bad())) - 1
	if time.Duration(gaps)*gap > slowStall {
		enough = Term{"time between samples", gaps, gap}
	}
	return Bound{{"interval", 1, c.Interval}, {"over", 1, c.lateAfter()},
		enough, {"slot", 1, max(gap, slowSlot)}}
}
