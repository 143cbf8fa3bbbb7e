package scenario

import (
	"context"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// How a resolver flaps: long enough gone to be noticed, and long enough there
// for its node to come back.
const (
	flapDown = 2 * time.Second
	flapUp   = 8 * time.Second
)

// flapping is a resolver that crashes again and again.
func flapping() Scenario {
	const claim = "the resolver died again and again"
	return Scenario{
		Name: "flapping", Title: "the resolver of a node is killed again and again, and started 2 s later",
		Fault: Length{90 * time.Second, 19 * time.Second},
		Act:   func(_ context.Context, r *Run) error { r.Down(r.Node); return nil },
		During: func(ctx context.Context, r *Run) error {
			d, died := r.Node.Resolver(), 0
			for {
				r.Say("SIGKILL to %s", d.Name())
				if err := d.Kill(ctx); err != nil {
					return err
				}
				if !d.Running() {
					died++
				}
				r.Witness(claim, died > 1, "%s was killed and did not run, by the kernel's process table, %d times",
					d.Name(), died)
				if err := load.Pause(ctx, flapDown); err != nil {
					return err
				}
				if err := d.Start(ctx); err != nil {
					return err
				}
				if err := load.Pause(ctx, flapUp); err != nil {
					return err
				}
			}
		},
		Undo: func(ctx context.Context, r *Run) error {
			if r.Node.Resolver().Running() {
				return nil
			}
			return r.Node.Resolver().Start(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.witnessed(claim)}
		},
	}
}
