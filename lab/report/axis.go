package report

import (
	"strconv"
	"strings"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// Bounds of a picture, so that its size does not follow the run's.
const (
	maxBins   = 240 // widths of time in which questions are counted
	wholeBins = 20  // from which on a bin more or less does not matter
	perBin    = 4   // questions that a bin should hold at least, or it is noise
	maxTicks  = 6   // labels of the axis, which a phone still has room for
	lastTick  = 95  // percent: beyond it there is no room for half a label
)

// axis is the time axis of a run: bins of one width, of which one begins at
// zero, the moment at which the lab acted.
type axis struct {
	zero  time.Time
	from  time.Time
	width time.Duration // of a bin
	bins  int
}

// newAxis spans the run's phases, or its records. A part of a bin at either end
// is left out, since it would look like a loss, unless there are few bins.
func newAxis(r result.Run, records []load.Record) axis {
	from, to := extent(r, records)
	a := axis{zero: zeroOf(r, from)}
	a.width = binWidth(to.Sub(from), len(records))
	before, after := a.zero.Sub(from), to.Sub(a.zero)
	if before+after < wholeBins*a.width {
		before, after = before+a.width-1, after+a.width-1
	}
	before, after = before/a.width, after/a.width
	a.from = a.zero.Add(-before * a.width)
	a.bins = max(int(before+after), 1)
	return a
}

// extent is the first and the last moment of a run: of its phases, or of its
// records if it has none. What was asked before the first phase is left out.
func extent(r result.Run, records []load.Record) (from, to time.Time) {
	if len(r.Phases) > 0 {
		return r.Phases[0].From, latest(r.Phases[0].From, r.Phases[len(r.Phases)-1].To)
	}
	from, to = r.Started, r.Started.Add(max(r.Took, 0))
	if len(records) > 0 {
		from = records[0].Intended
		to = latest(from, records[len(records)-1].Intended)
	}
	return from, to
}

// latest is the later of two moments.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// zeroOf is when the lab acted: the begin of the action, or else of the fault.
func zeroOf(r result.Run, from time.Time) time.Time {
	for _, name := range []string{"action", "fault"} {
		for _, p := range r.Phases {
			if p.Name == name && !p.From.Before(from) {
				return p.From
			}
		}
	}
	return from
}

// binWidth is the least round width that makes at most maxBins bins, with
// perBin questions in each on the average.
func binWidth(span time.Duration, records int) time.Duration {
	least := span / maxBins
	if records > 0 {
		least = max(least, min(span*perBin/time.Duration(records), span/10))
	}
	return roundUp(least)
}

// roundUp is the next of 1, 2 and 5 times a power of ten, from 10 ms on.
func roundUp(d time.Duration) time.Duration {
	for step := 10 * time.Millisecond; ; step *= 10 {
		for _, f := range []time.Duration{1, 2, 5} {
			if f*step >= d {
				return f * step
			}
		}
	}
}

// span is the length of the axis.
func (a axis) span() time.Duration { return time.Duration(a.bins) * a.width }

// bin is the bin of a moment; false if it is outside.
func (a axis) bin(t time.Time) (int, bool) {
	d := t.Sub(a.from)
	if d < 0 || d >= a.span() {
		return 0, false
	}
	return int(d / a.width), true
}

// at is the place of a moment in percent of the axis, held within it.
func (a axis) at(t time.Time) float64 {
	p := float64(t.Sub(a.from)) / float64(a.span()) * 100
	return min(max(p, 0), 100)
}

// tick is a label of the axis; the last one ends where the axis does.
type tick struct {
	X, Text string
	Last    bool
}

// ticks are round seconds, zero one of them.
func (a axis) ticks() []tick {
	step := roundUp(a.span() / maxTicks)
	var all []tick
	before := a.zero.Sub(a.from) / step
	for d := -before * step; ; d += step {
		t := a.zero.Add(d)
		if t.After(a.from.Add(a.span())) {
			return all
		}
		all = append(all, tick{percent(a.at(t)), tickText(d), a.at(t) > lastTick})
	}
}

// tickText spells a tick: "-10 s", "0", "+2.5 s".
func tickText(d time.Duration) string {
	s := strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	switch {
	case d == 0:
		return "0"
	case d > 0:
		return "+" + s
	}
	return strings.Replace(s, "-", "−", 1)
}

// percent spells a place or a width for SVG, in few characters.
func percent(p float64) string { return short(p) + "%" }

// short spells a number of the picture with two digits at most.
func short(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
