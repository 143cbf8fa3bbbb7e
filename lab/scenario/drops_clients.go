package scenario

import (
	"context"
	"errors"
	"fmt"

	"recuse/lab/result"
)

// dropsClients is a firewall that shuts out the clients and nobody else: the
// node's own checks see a resolver that is well. No agent that looks from the
// node itself can see it.
func dropsClients() Scenario {
	return Scenario{
		Name: "drops-clients", Title: "the firewall of a node drops what clients ask, and nothing else",
		Applies: func(s result.Setup) error {
			if s.Design == Relay {
				return errors.New("in the design relay no client asks a node")
			}
			return nil
		},
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("the firewall of %s drops the clients", r.Node.Name())
			return r.Node.DropClients(ctx, true)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("the firewall of %s lets the clients in", r.Node.Name())
			return r.Node.DropClients(ctx, false)
		},
		Proof: func(r *Run) []result.Proof {
			wire := r.traffic(r.Node, Action, Fault)
			return []result.Proof{r.served(r.Node), {
				Claim: r.Node.Name() + " dropped what clients asked", Holds: wire.Dropped > 0,
				Evidence: fmt.Sprintf("its firewall counted %d dropped packets of %d queries on its wire", wire.Dropped, wire.Queries)}}
		},
	}
}
