package scenario

import (
	"context"
	"fmt"

	"recuse/lab/load"
	"recuse/lab/result"
)

// flows is how many clients ask where the flows that move are counted. Half of
// them are one flow each, and with fewer a share would be chance; the others ask
// from a new port each time, and so are what a new node is given in any case.
const flows = 100

// nodeAdded is a network that grows. The router hashes flows over one next hop
// more, and moves more of them than need be; resilient groups move only those
// that the new node is to get.
func nodeAdded(resilient bool) Scenario {
	s := Scenario{
		Name: "node-added", Title: "a node is added, and the router hashes all flows anew",
		Needs:   Needs{Clients: flows},
		Load:    []Load{{Transport: load.UDPOnePort}, {Transport: load.UDP}},
		Applies: onlyAnycast("flows to hash"),
		Act: func(ctx context.Context, r *Run) error {
			r.Say("a node is added")
			n, err := r.Bench.AddNode(ctx)
			if err != nil {
				return err
			}
			r.added = n
			return nil
		},
		Tell: (*Run).noteFlows,
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.joined()}
		},
	}
	// It has to start, and to pass its checks.
	s.Fault = Length{usualFault.Full, usualFault.Least + usualFault.Least}
	if resilient {
		s.Name = "node-added-resilient"
		s.Title = "a node is added, and the router has resilient groups of next hops"
		s.Prepare = func(ctx context.Context, r *Run) error { return r.Bench.Router().Resilient(ctx, true) }
	}
	return s
}

// joined is the proof that the new node served clients, and was not there
// before.
func (r *Run) joined() result.Proof {
	p := result.Proof{Claim: "a node more served the clients", Evidence: "no node was added"}
	if r.added == nil {
		return p
	}
	_, was := r.looks[Calm].traffic[r.added.Name()]
	answers := answersOf(r.within(Action, After), r.added)
	wire := r.looks[After].traffic[r.added.Name()]
	p.Holds = !was && answers > 0 && wire.Answers > 0
	p.Evidence = fmt.Sprintf("%d questions were answered in the name of %s after it was added; its wire saw %d queries and %d answers",
		answers, r.added.Name(), wire.Queries, wire.Answers)
	return p
}

// noteFlows tells how many flows went to another node, and how many of those
// not to the new one.
func (r *Run) noteFlows() {
	if r.added == nil {
		return
	}
	first, last := nodesOf(r.within(Calm, Calm)), nodesOf(r.within(After, After))
	moved, needless := 0, 0
	kept := 0
	for client, node := range first {
		now, asked := last[client]
		if !asked || !r.first(client) {
			continue
		}
		kept++
		if now != node {
			moved++
			needless += count(now != r.added.Name())
		}
	}
	r.Note("%d of %d clients that keep their port moved, %d of them to another node than the new one", moved, kept, needless)
}

// nodesOf is the node that answered each client last.
func nodesOf(records []load.Record) map[int]string {
	nodes := map[int]string{}
	for _, rec := range records {
		if !rec.Lost() && rec.Node != "" {
			nodes[rec.Client] = rec.Node
		}
	}
	return nodes
}
