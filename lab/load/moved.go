package load

import (
	"slices"
	"time"
)

// Down says that a node could not serve for a while: what moves away from it
// then, moves for a reason.
type Down struct {
	Node string    `json:"node"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // zero: to the end of the run
}

// overlaps reports whether the node was down at any moment of a span.
func (d Down) overlaps(from, to time.Time) bool {
	return !d.From.After(to) && (d.To.IsZero() || !d.To.Before(from))
}

// flow is what a router's hash sees of a client: its packets go one way until
// the router's next hops change.
type flow struct {
	client int
	server string
	port   int
	via    Via
}

// seen is the last answer of a flow.
type seen struct {
	node string
	at   time.Time
}

// moved is Figures.Moved. Answers of which the node or the flow is not known are
// left out.
func moved(records []Record, downs []Down) int {
	n := 0
	last := map[flow]seen{}
	for _, r := range records {
		if r.Lost() || r.Node == "" || r.Port == 0 {
			continue
		}
		k := flow{r.Client, r.Server, r.Port, r.Via}
		before, known := last[k]
		if known && before.node != r.Node && !wasDown(downs, before, r.Ended) {
			n++
		}
		last[k] = seen{r.Node, r.Ended}
	}
	return n
}

// wasDown reports whether the node of the flow's answer before was down between
// that answer and now.
func wasDown(downs []Down, before seen, now time.Time) bool {
	return slices.ContainsFunc(downs, func(d Down) bool {
		return d.Node == before.node && d.overlaps(before.at, now)
	})
}
