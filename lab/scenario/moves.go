package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
)

// moves are the sentences on when nodes left the router's next hops and were
// back, from its kernel's own events; none in a design without.
func (r *Run) moves() []string {
	var notes []string
	for _, n := range r.Bench.Nodes() {
		text := ""
		if d, ok := r.change(n.Name(), false, r.phase(Action).From); ok {
			text = fmt.Sprintf("%s left the router's next hops %s after the fault began", n.Name(), brief(d))
		}
		if d, ok := r.change(n.Name(), true, r.phase(Revert).From); ok {
			if text == "" {
				text = n.Name() + " was in the router's next hops"
			} else {
				text += " and was back"
			}
			text += fmt.Sprintf(" %s after the revert began", brief(d))
		}
		if text != "" {
			notes = append(notes, text)
		}
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

// brief shortens a duration for people.
func brief(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
