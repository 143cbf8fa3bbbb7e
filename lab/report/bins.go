package report

import (
	"maps"
	"slices"
	"time"

	"recuse/lab/load"
)

// The ways in which a question ended, from the bottom of a stack to its top.
const (
	lost = iota
	bad
	stalled
	answered
	outcomes
)

// outcomeNames are their names, and their classes on the page.
var outcomeNames = [outcomes]string{"lost", "bad", "stalled", "answered"}

// outcomeOf sorts a question.
func outcomeOf(r load.Record) int {
	switch {
	case r.Lost():
		return lost
	case r.Bad():
		return bad
	case r.Stalled():
		return stalled
	}
	return answered
}

// bins are a run's questions, counted by time.
type bins struct {
	axis
	ends    [][outcomes]int  // by when they were meant to be asked
	slowest []time.Duration  // of those that were answered, by the same
	nodes   map[string][]int // answers by when they came
	cut     [outcomes]int    // questions outside of the axis
}

// newBins counts records.
func newBins(a axis, records []load.Record) bins {
	b := bins{axis: a, ends: make([][outcomes]int, a.bins), slowest: make([]time.Duration, a.bins), nodes: map[string][]int{}}
	for _, r := range records {
		b.add(r)
	}
	return b
}

// add counts one record.
func (b *bins) add(r load.Record) {
	if i, ok := b.bin(r.Intended); ok {
		b.ends[i][outcomeOf(r)]++
		if !r.Lost() {
			b.slowest[i] = max(b.slowest[i], r.Felt())
		}
	} else {
		b.cut[outcomeOf(r)]++
	}
	if i, ok := b.bin(r.Ended); ok && !r.Lost() {
		name := nodeName(r.Node)
		if b.nodes[name] == nil {
			b.nodes[name] = make([]int, b.axis.bins)
		}
		b.nodes[name][i]++
	}
}

// top is the most questions in one bin.
func (b bins) top() int {
	most := 0
	for _, e := range b.ends {
		most = max(most, total(e))
	}
	return most
}

// total is all questions of a bin.
func total(e [outcomes]int) int { return e[lost] + e[bad] + e[stalled] + e[answered] }

// topNode is the most answers of one node in one bin, but not more than were
// asked in one: answers that come late come together, and would flatten the
// rest.
func (b bins) topNode() int {
	most := 0
	for _, n := range b.nodes {
		most = max(most, slices.Max(n))
	}
	return min(most, b.top())
}

// names are the nodes that answered, in order.
func (b bins) names() []string { return slices.Sorted(maps.Keys(b.nodes)) }
