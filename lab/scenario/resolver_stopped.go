package scenario

import (
	"context"
	"time"

	"recuse/lab/result"
)

// resolverStopped is a resolver that was stopped and forgotten.
func resolverStopped() Scenario {
	return Scenario{
		Name: "resolver-stopped", Title: "the resolver of a node is stopped for a minute",
		Fault: Length{time.Minute, 6 * time.Second},
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("stop of %s", r.Node.Resolver().Name())
			return r.Node.Resolver().Stop(ctx)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("start of %s", r.Node.Resolver().Name())
			return r.Node.Resolver().Start(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.gone(r.Node.Resolver()), r.silent(r.Node)}
		},
	}
}
