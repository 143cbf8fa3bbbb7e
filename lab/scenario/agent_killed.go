package scenario

import (
	"context"

	"recuse/lab/result"
)

// agentKilled is the agent's own crash, under a resolver that is well.
func agentKilled() Scenario {
	return Scenario{
		Name: "agent-killed", Title: "the agent of a node is killed, and its resolver is well",
		Applies: onlyAnycast("agent"),
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("SIGKILL to %s", r.Node.Agent().Name())
			return r.Node.Agent().Kill(ctx)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("start of %s", r.Node.Agent().Name())
			return r.Node.Agent().Start(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.gone(r.Node.Agent())}
		},
	}
}
