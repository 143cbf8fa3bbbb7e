package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// moves are the sentences on when nodes left the router's next hops and were
// back, from its kernel's own events; none in a design without.
func (r *Run) moves() []string {
	var notes []string
	acted, reverted := r.phase(Action).From, r.phase(Revert).From
	for _, n := range r.Bench.Nodes() {
		left, ok := r.change(n.Name(), false, acted)
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s left the router's next hops %s after the fault began", n.Name(), load.Brief(left))
		gone := acted.Add(left)
		back, ok := r.change(n.Name(), true, gone)
		switch {
		case !ok:
			text += " and was not back"
		case gone.Add(back).Before(reverted):
			text += fmt.Sprintf(" and was back %s later, before the revert", load.Brief(back))
		default:
			text += fmt.Sprintf(" and was back %s after the revert began", load.Brief(gone.Add(back).Sub(reverted)))
		}
		notes = append(notes, text)
	}
	return notes
}

// change is how long after a moment the node first joined, or left, the router's
// next hops.
func (r *Run) change(node string, joined bool, since time.Time) (time.Duration, bool) {
	was := false
	for _, e := range r.routes() {
		is := slices.Contains(strings.Split(e.Text, ", "), node)
		if e.At.After(since) && is == joined && was != joined {
			return e.At.Sub(since), true
		}
		was = is
	}
	return 0, false
}

// routes are the events of the router's next hops in time order; the text of
// each names them.
func (r *Run) routes() []result.Event {
	var events []result.Event
	for _, e := range r.events {
		if e.Lane == laneRoutes {
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b result.Event) int { return a.At.Compare(b.At) })
	return events
}

// laneRoutes is the lane of the router's next hops on every bench.
const laneRoutes = "router routes"
