package scenario

import (
	"context"

	"recuse/lab/bench"
	"recuse/lab/result"
)

// allDead is a power cut that spares the router: what is left is its own last
// resort, if it has one.
func allDead() Scenario {
	return Scenario{
		Name: "all-dead", Title: "all nodes fall silent without a word",
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Bench.Nodes()...)
			r.Say("all nodes freeze")
			return r.each(func(n bench.Node) error { return n.Freeze(ctx) })
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("all nodes thaw")
			return r.each(func(n bench.Node) error { return n.Thaw(ctx) })
		},
		Proof: func(r *Run) []result.Proof {
			all := []result.Proof{r.served(r.Node)}
			for _, n := range r.Bench.Nodes() {
				all = append(all, r.silent(n))
			}
			return all
		},
	}
}
