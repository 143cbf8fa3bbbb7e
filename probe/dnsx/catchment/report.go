package catchment

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"recuse/probe/dnsx"
)

// Why a survey ended before every flow had asked.
const (
	Interrupted = "interrupted"
	NoIdentity  = "no identity" // the first answers do not say which node they are from
	Unreachable = "unreachable" // the first questions were all refused, by whomever
)

// sample is what one flow showed.
type sample struct {
	answered bool
	node     string // who answered; "" if the answer does not say
	by       dnsx.Inquiry
	took     time.Duration
	second   string // who answered the same flow once more; "" if not known
	why      string // why the node is not known
	silent   bool   // there was no answer, and no other word either
}

// Report is what a survey found.
type Report struct {
	// Server is what was asked.
	Server string `json:"server"`
	// Asked is how many source ports asked: the sum of what follows.
	Asked int `json:"asked"`
	// Nodes are those that answered, by name.
	Nodes []Node `json:"nodes"`
	// Unidentified are the answers that do not say which node they are from.
	Unidentified Rest `json:"unidentified"`
	// Unanswered are the source ports that got no answer that a client takes.
	Unanswered Rest `json:"unanswered"`
	// Repeated are the source ports on which two answers say which node they are
	// from, and Moved those of them on which the nodes differ.
	Repeated int `json:"repeated"`
	Moved    int `json:"moved"`
	// Ended says why not all asked, "" if they did.
	Ended string `json:"ended,omitempty"`
}

// Node is one node that answered.
type Node struct {
	// Name is its identity, and By how it was asked for.
	Name string `json:"node"`
	By   string `json:"by"`
	// Answers is how many source ports it answered, and Share their part of all
	// that were answered.
	Answers int     `json:"answers"`
	Share   float64 `json:"share"`
	// MedianMS is the median time from question to answer.
	MedianMS float64 `json:"median_ms"`
}

// Rest are source ports without a node.
type Rest struct {
	Count   int            `json:"count"`
	Reasons map[string]int `json:"reasons"`
}

// newReport counts the samples of a survey that was to have so many flows; end
// is why it ended if it had fewer.
func newReport(c Config, samples []sample, end string) Report {
	r := Report{Server: c.Server.String(), Asked: len(samples), Nodes: []Node{},
		Unidentified: Rest{Reasons: map[string]int{}}, Unanswered: Rest{Reasons: map[string]int{}}}
	if r.Asked < c.Flows {
		r.Ended = end
	}
	of := map[string][]sample{}
	for _, x := range samples {
		switch {
		case x.node != "":
			of[x.node] = append(of[x.node], x)
			r.repeat(x)
		case x.answered:
			r.Unidentified.add(x.why)
		default:
			r.Unanswered.add(x.why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		r.Nodes = append(r.Nodes, newNode(of[name], r.Answered()))
	}
	return r
}

// Answered is how many source ports were answered.
func (r Report) Answered() int { return r.Asked - r.Unanswered.Count }

// Even returns the part of each node if all nodes had the same, and how far
// from it chance alone moves a node's part in 95 of 100 surveys: twice the
// standard deviation of a binomial distribution.
func (r Report) Even() (share, swing float64) {
	share = 1 / float64(len(r.Nodes))
	return share, 2 * math.Sqrt(share*(1-share)/float64(r.Answered()))
}

// repeat counts what the second answer of a flow says.
func (r *Report) repeat(x sample) {
	if x.second == "" {
		return
	}
	r.Repeated++
	if x.second != x.node {
		r.Moved++
	}
}

// newNode counts the samples of one node, of so many answers in all.
func newNode(samples []sample, answers int) Node {
	slices.SortFunc(samples, func(a, b sample) int { return cmp.Compare(a.took, b.took) })
	median := samples[len(samples)/2]
	return Node{
		Name: median.node, By: median.by.String(), Answers: len(samples),
		Share:    float64(len(samples)) / float64(answers),
		MedianMS: float64(median.took.Microseconds()) / 1000,
	}
}

// add counts one flow.
func (r *Rest) add(why string) {
	r.Count++
	r.Reasons[why]++
}

// futile says why it is no use to go on after the first samples, "" if it is.
// Silence is no reason: it may be one node's of several.
func futile(samples []sample) string {
	end := Unreachable
	for _, x := range samples {
		switch {
		case x.node != "", x.silent:
			return ""
		case x.answered:
			end = NoIdentity
		}
	}
	return end
}
