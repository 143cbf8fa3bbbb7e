package scenario

import (
	"context"

	"recuse/lab/result"
)

// nodeKilled is a crash that the kernel of the node survives: every process
// dies at once and every socket closes.
func nodeKilled() Scenario {
	return Scenario{
		Name: "node-killed", Title: "every process of a node is killed, and the sockets close",
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("SIGKILL to every process of %s", r.Node.Name())
			return r.Node.Kill(ctx)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("start of %s", r.Node.Name())
			return r.Node.Start(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			all := []result.Proof{r.served(r.Node), r.gone(r.Node.Resolver())}
			if a := r.Node.Agent(); a != nil {
				all = append(all, r.gone(a))
			}
			return append(all, r.silent(r.Node))
		},
	}
}
