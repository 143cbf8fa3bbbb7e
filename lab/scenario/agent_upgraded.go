package scenario

import (
	"context"
	"fmt"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// agentUpgraded is a package upgrade: a clean stop and a start of the new
// program.
func agentUpgraded() Scenario {
	const claim = "the agent was stopped and started again"
	return Scenario{
		Name: "agent-upgraded", Title: "the agent of a node is stopped in order and the new one started",
		Applies: onlyAnycast("agent"),
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("upgrade of %s", r.Node.Agent().Name())
			from := time.Now()
			if err := r.Node.Upgrade(ctx); err != nil {
				return err
			}
			r.Note("the upgrade of %s took %s", r.Node.Agent().Name(), load.Brief(time.Since(from)))
			return nil
		},
		Proof: func(r *Run) []result.Proof {
			p := result.Proof{Claim: claim, Evidence: r.Node.Name() + " never left the router's next hops"}
			if d, ok := r.change(r.Node.Name(), false, r.phase(Action).From); ok {
				p.Holds = true
				p.Evidence = fmt.Sprintf("%s left the next hops of the router's kernel %s after the upgrade began",
					r.Node.Name(), load.Brief(d))
			}
			return []result.Proof{r.served(r.Node), p}
		},
	}
}
