package scenario

import (
	"context"

	"recuse/lab/result"
)

// drain is an operator who takes a node out for work, and puts it back.
func drain() Scenario {
	return Scenario{
		Name: "drain", Title: "an operator drains a node, and undrains it",
		Applies: onlyAnycast("agent to drain"),
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("drain of %s", r.Node.Name())
			return r.Node.Drain(ctx)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("undrain of %s", r.Node.Name())
			return r.Node.Undrain(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.left(r.Node)}
		},
	}
}
