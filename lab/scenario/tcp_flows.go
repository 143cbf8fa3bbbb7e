package scenario

import (
	"context"
	"fmt"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// tcpFlows is what moves badly: connections, which the node that they move to
// has never heard of, and answers too large for UDP. The flows move because a
// node leaves in order; what its clients feel is then the move alone.
func tcpFlows() Scenario {
	large := load.Mix{authority.Large + " TXT", "{random}." + authority.Fresh + " TXT", authority.Hosts()[0]}
	return Scenario{
		Name: "tcp-flows", Title: "kept TCP connections and large answers, while a node leaves in order",
		Needs: Needs{Clients: 20},
		Load:  []Load{{Mix: large, Transport: load.TCPKept}, {Mix: large, Transport: load.UDP}},
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("stop of %s", r.leaver().Name())
			return r.leaver().Stop(ctx)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("start of %s", r.leaver().Name())
			return r.leaver().Start(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.connected(r.Node), r.gone(r.leaver())}
		},
	}
}

// leaver is what makes the node leave in order: its agent, or where there is
// none the resolver itself.
func (r *Run) leaver() bench.Daemon {
	if a := r.Node.Agent(); a != nil {
		return a
	}
	return r.Node.Resolver()
}

// connected is the proof that clients had large answers of the node over TCP
// before the fault, both on kept connections and after one that was truncated.
func (r *Run) connected(n bench.Node) result.Proof {
	kept, truncated := 0, 0
	for _, rec := range r.within(Calm, Calm) {
		if rec.Lost() || rec.Node != n.Name() || rec.Via != load.ViaTCP {
			continue
		}
		if r.first(rec.Client) {
			kept++
		} else {
			truncated++
		}
	}
	return result.Proof{Claim: n.Name() + " served clients over TCP", Holds: kept > 0 && truncated > 0,
		Evidence: fmt.Sprintf("%d answers of the calm came in its name on kept connections, %d over TCP after a truncated answer",
			kept, truncated)}
}
