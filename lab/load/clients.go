package load

import (
	"maps"
	"slices"
	"time"
)

// Clients is how a run's harm spreads over its clients.
type Clients struct {
	Count int `json:"count"` // that asked anything
	Hurt  int `json:"hurt"`  // with at least one failed question
	Worst int `json:"worst"` // the client with the longest outage, then the most failures; the first of equals

	Lost   Spread[float64]       `json:"lost"`       // part of a client's questions that was lost, 0 to 1
	Failed Spread[float64]       `json:"failed"`     // part that was lost, bad or stalled
	Outage Spread[time.Duration] `json:"outage_ns"`  // Figures.Outage of each client
	Gap    Spread[time.Duration] `json:"gap_ns"`     // Figures.WorstGap of each client
	Asked  Spread[int]           `json:"asked"`      // questions of each client
	Nodes  Spread[int]           `json:"node_count"` // how many nodes answered each client
}

// distribute computes the distribution over clients of records in the order of
// intended times.
func distribute(records []Record) Clients {
	tallies := map[int]*tally{}
	for _, r := range records {
		t := tallies[r.Client]
		if t == nil {
			t = &tally{last: r.Intended, nodes: map[string]bool{}}
			tallies[r.Client] = t
		}
		t.add(r)
	}
	c := Clients{Count: len(tallies)}
	var lost, failed []float64
	var outage, gap []time.Duration
	var asked, nodes []int
	var worst *tally
	for _, id := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[id]
		t.end()
		lost = append(lost, float64(t.lost)/float64(t.asked))
		failed = append(failed, float64(t.failed)/float64(t.asked))
		outage, gap = append(outage, t.outage), append(gap, t.gap)
		asked, nodes = append(asked, t.asked), append(nodes, len(t.nodes))
		if t.failed > 0 {
			c.Hurt++
		}
		if worst == nil || t.worse(worst) {
			worst, c.Worst = t, id
		}
	}
	c.Lost, c.Failed, c.Outage, c.Gap = spread(lost), spread(failed), spread(outage), spread(gap)
	c.Asked, c.Nodes = spread(asked), spread(nodes)
	return c
}

// tally is what one client went through so far.
type tally struct {
	asked, lost, failed int
	nodes               map[string]bool

	gap       time.Duration
	last      time.Time // intended time of the last question that did not fail; at first, of the first
	latest    time.Time // intended time of the last question
	outage    time.Duration
	failUntil time.Time // until when the failures so far reach
}

// add counts one record; they come in the order of intended times.
func (t *tally) add(r Record) {
	t.asked++
	t.latest = r.Intended
	if r.Lost() {
		t.lost++
	} else {
		t.nodes[r.Node] = true
	}
	if !r.Failed() {
		t.gap = max(t.gap, r.Intended.Sub(t.last))
		t.last = r.Intended
		return
	}
	t.failed++
	from := r.Intended
	if t.failUntil.After(from) {
		from = t.failUntil
	}
	if r.Ended.After(from) {
		t.outage += r.Ended.Sub(from)
		t.failUntil = r.Ended
	}
}

// end closes the gap that reaches to the client's last question.
func (t *tally) end() { t.gap = max(t.gap, t.latest.Sub(t.last)) }

// worse reports whether this client was hurt more than another.
func (t *tally) worse(u *tally) bool {
	if t.outage != u.outage {
		return t.outage > u.outage
	}
	return t.failed > u.failed
}
