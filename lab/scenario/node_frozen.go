package scenario

import (
	"context"

	"recuse/lab/result"
)

// nodeFrozen is a node that lost power or hangs, seen from outside: it says
// nothing any more, and no link tells of it.
func nodeFrozen() Scenario {
	return Scenario{
		Name: "node-frozen", Title: "a node falls silent without a word: no process runs, no packet leaves, no link goes down",
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("%s freezes", r.Node.Name())
			return r.Node.Freeze(ctx)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("%s thaws", r.Node.Name())
			return r.Node.Thaw(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.silent(r.Node)}
		},
	}
}
