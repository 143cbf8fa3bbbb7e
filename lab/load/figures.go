package load

import (
	"fmt"
	"slices"
	"time"
)

// VoidAfter is the generator's own p99 lateness above which a run says nothing
// about the server.
const VoidAfter = 2 * time.Millisecond

// Figures are what a run amounts to, from its records alone. Durations are in
// nanoseconds in JSON; Infinite is spelled "infinite" there.
type Figures struct {
	Asked   int `json:"asked"`
	Lost    int `json:"lost"`    // no answer
	Bad     int `json:"bad"`     // SERVFAIL or REFUSED
	Stalled int `json:"stalled"` // answered well, more than StalledAfter late
	Unsent  int `json:"unsent"`  // of the lost, those that the generator itself lost (Record.Own)

	// Outage is the felt outage of the client that was hurt worst: the time
	// during which at least one of its questions was failing. A question that
	// failed was failing from when it was meant to be asked until it ended
	// (answered, or given up), and overlapping times count once.
	Outage time.Duration `json:"outage_ns"`
	// WorstGap is the longest time between two neighbouring questions of one
	// client that did not fail, its first and last moment included: how long a
	// client that asks all the time saw nothing work.
	WorstGap time.Duration `json:"worst_gap_ns"`
	// Clients says how that spreads over the clients, for a mean hides the third
	// that a router's hash hurt.
	Clients Clients `json:"clients"`

	// FirstLost and LastLost are when the first and the last lost question was
	// meant to be asked; zero if none was.
	FirstLost time.Time `json:"first_lost,omitzero"`
	LastLost  time.Time `json:"last_lost,omitzero"`

	Nodes map[string]int `json:"nodes"` // answers by node
	// Moved counts the answers of a flow (client, server, source port) that came
	// from another node than the flow's answer before, though that node was up
	// all the time in between.
	Moved  int `json:"moved"`
	Resets int `json:"resets"` // TCP and TLS connections that broke under the client

	// Quantiles of the felt time; Infinite where so many were lost.
	P50 time.Duration `json:"p50_ns"`
	P95 time.Duration `json:"p95_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`

	// The generator's own lateness.
	LateP50 time.Duration `json:"late_p50_ns"`
	LateP99 time.Duration `json:"late_p99_ns"`
	LateMax time.Duration `json:"late_max_ns"`
	// Void is why the run says nothing about the server: the generator was late
	// (LateP99 above VoidAfter) or lost questions itself. "" if the run counts.
	Void string `json:"void,omitempty"`
}

// Summarize computes the figures of records in the order of intended times.
// downs say when nodes were down, which is what makes a move needful; without
// them every move counts as needless.
func Summarize(records []Record, downs ...Down) Figures {
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
	f.P50, f.P95, f.P99, f.Max = quantile(felt, 0.50), quantile(felt, 0.95), quantile(felt, 0.99), quantile(felt, 1)
	f.LateP50, f.LateP99, f.LateMax = quantile(late, 0.50), quantile(late, 0.99), quantile(late, 1)
	f.Clients = distribute(records)
	f.Outage, f.WorstGap = f.Clients.Outage.Max, f.Clients.Gap.Max
	f.Moved = moved(records, downs)
	f.Void = f.void()
	return f
}

// count adds one record to the sums.
func (f *Figures) count(r Record) {
	f.Resets += r.Resets
	switch {
	case r.Lost():
		f.Lost++
		if r.Own() {
			f.Unsent++
		}
		if f.FirstLost.IsZero() {
			f.FirstLost = r.Intended
		}
		f.LastLost = r.Intended
		return
	case r.Bad():
		f.Bad++
	case r.Stalled():
		f.Stalled++
	}
	f.Nodes[r.Node]++
}

// void is Figures.Void.
func (f *Figures) void() string {
	switch {
	case f.Unsent > 0:
		return fmt.Sprintf("the generator itself lost %d of %d questions", f.Unsent, f.Asked)
	case f.LateP99 > VoidAfter:
		return fmt.Sprintf("the generator was late: p99 %s, more than %s", f.LateP99, VoidAfter)
	}
	return ""
}
