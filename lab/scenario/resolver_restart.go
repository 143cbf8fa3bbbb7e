package scenario

import (
	"context"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// resolverRestart is what an update or a new configuration does to a resolver.
func resolverRestart() Scenario {
	const claim = "the resolver was gone for a moment"
	return Scenario{
		Name: "resolver-restart", Title: "the resolver of a node is restarted",
		Act: func(ctx context.Context, r *Run) error {
			d := r.Node.Resolver()
			r.Down(r.Node)
			r.Say("restart of %s", d.Name())
			from := time.Now()
			if err := d.Stop(ctx); err != nil {
				return err
			}
			gone := !d.Running()
			if err := d.Start(ctx); err != nil {
				return err
			}
			r.Witness(claim, gone && d.Running(), "%s did not run after its stop, by the kernel's process table, and ran again %s after the stop began",
				d.Name(), load.Brief(time.Since(from)))
			return nil
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.witnessed(claim)}
		},
	}
}
