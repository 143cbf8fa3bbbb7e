package load

import (
	"math"
	"slices"
	"time"
)

// Infinite is how long a question that was lost took.
const Infinite = time.Duration(math.MaxInt64)

// VoidAfter is the generator's own p99 lateness above which a run says nothing
// about the server.
const VoidAfter = 2 * time.Millisecond

// Figures are what a run amounts to.
type Figures struct {
	Asked int
	Lost  int // no answer
	Bad   int // SERVFAIL or REFUSED

	// WorstGap is the longest time between two neighbouring questions that were
	// answered well, the run's first and last moment included: how long a client
	// that asks all the time saw nothing work.
	WorstGap time.Duration
	// FirstLost and LastLost are when the first and the last lost question was
	// meant to be asked; zero if none was.
	FirstLost, LastLost time.Time

	Nodes map[string]int // answers by node

	// Quantiles of the felt time; Infinite where so many were lost.
	P50, P95, P99, Max time.Duration

	// The generator's own lateness. A run with LateP99 above VoidAfter is Void.
	LateP50, LateP99, LateMax time.Duration
	Void                      bool
}

// Summarize computes the figures of records in the order of intended times.
func Summarize(records []Record) Figures {
	f := Figures{Asked: len(records), Nodes: map[string]int{}}
	felt := make([]time.Duration, 0, len(records))
	late := make([]time.Duration, 0, len(records))
	for _, r := range records {
		f.count(r)
		felt = append(felt, r.Felt())
		late = append(late, r.Late())
	}
	slices.Sort(felt)
	slices.Sort(late)
	f.WorstGap = worstGap(records)
	f.P50, f.P95, f.P99, f.Max = quantile(felt, 0.50), quantile(felt, 0.95), quantile(felt, 0.99), quantile(felt, 1)
	f.LateP50, f.LateP99, f.LateMax = quantile(late, 0.50), quantile(late, 0.99), quantile(late, 1)
	f.Void = f.LateP99 > VoidAfter
	return f
}

// count adds one record to the sums.
func (f *Figures) count(r Record) {
	switch {
	case r.Lost():
		f.Lost++
		if f.FirstLost.IsZero() {
			f.FirstLost = r.Intended
		}
		f.LastLost = r.Intended
		return
	case r.Bad():
		f.Bad++
	}
	f.Nodes[r.Node]++
}

// worstGap is Figures.WorstGap.
func worstGap(records []Record) time.Duration {
	if len(records) == 0 {
		return 0
	}
	var worst time.Duration
	last := records[0].Intended
	for i, r := range records {
		well := !r.Lost() && !r.Bad()
		if well || i == len(records)-1 {
			worst = max(worst, r.Intended.Sub(last))
		}
		if well {
			last = r.Intended
		}
	}
	return worst
}

// quantile is the smallest value that at least the part q of the sorted values
// does not exceed; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}
