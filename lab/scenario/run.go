package scenario

import (
	"context"
	"fmt"
	"sync"
	"time"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// Run is one run under way: what a scenario acts on, and what was seen of it.
type Run struct {
	Bench bench.Bench
	// Node is the node that served the clients in the calm: that of most answers.
	Node bench.Node
	// added is the node that a scenario added; nil if none.
	added bench.Node

	scenario Scenario
	options  Options
	started  time.Time

	phases  []result.Phase
	looks   map[string]look // at the end of each phase; "" is before the first
	records []load.Record
	downs   []load.Down
	notes   []string
	seen    map[string]result.Proof // by claim: what was seen while it was true

	mu     sync.Mutex // guards events
	events []result.Event
}

// look is how everything stood at one moment, by the packets and the kernel.
type look struct {
	traffic map[string]bench.Traffic // by node
	zones   map[string]authority.Zone
	running map[string]bool // by daemon
	hops    []string        // of the router, sorted; nil in a design without
}

// look looks at everything.
func (r *Run) look(ctx context.Context) (look, error) {
	l := look{traffic: map[string]bench.Traffic{}, running: map[string]bool{}}
	for _, n := range r.Bench.Nodes() {
		t, err := n.Seen(ctx)
		if err != nil {
			return l, err
		}
		l.traffic[n.Name()] = t
		l.running[n.Resolver().Name()] = n.Resolver().Running()
		if a := n.Agent(); a != nil {
			l.running[a.Name()] = a.Running()
		}
	}
	if d := r.Bench.Relay(); d != nil {
		l.running[d.Name()] = d.Running()
	}
	var err error
	if l.zones, err = r.Bench.Zones(ctx); err != nil {
		return l, err
	}
	if r.Bench.Setup().Design == Anycast {
		l.hops, err = r.Bench.Router().NextHops(ctx)
	}
	return l, err
}

// Say puts a mark of the lab's own on the time line.
func (r *Run) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.observe(result.Event{At: time.Now(), Lane: result.LaneLab, Text: text})
	r.options.say(text)
}

// Note keeps a sentence that the report prints under the run.
func (r *Run) Note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// Witness keeps what was seen while the fault was made and cannot be seen
// later, for Witnessed.
func (r *Run) Witness(claim string, holds bool, evidence string, args ...any) {
	r.seen[claim] = result.Proof{Claim: claim, Holds: holds, Evidence: fmt.Sprintf(evidence, args...)}
}

// Down says that nodes cannot serve from now on: flows that leave them move for
// a reason.
func (r *Run) Down(nodes ...bench.Node) {
	for _, n := range nodes {
		r.downs = append(r.downs, load.Down{Node: n.Name(), From: time.Now()})
	}
}

// up says that all nodes can serve again.
func (r *Run) up() {
	for i := range r.downs {
		if r.downs[i].To.IsZero() {
			r.downs[i].To = time.Now()
		}
	}
}

// observe adds an event to the time line.
func (r *Run) observe(e result.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// each does something to every node of the bench.
func (r *Run) each(do func(bench.Node) error) error {
	for _, n := range r.Bench.Nodes() {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}
