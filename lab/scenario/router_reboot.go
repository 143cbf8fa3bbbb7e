package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// routerReboot is a router that forgets what it was told. What its box does for
// the design, routing or the relay, is gone and comes back; that it forwards
// nothing while it boots is the same for every design and left out.
func routerReboot() Scenario {
	return Scenario{
		Name: "router-reboot", Title: "the router's routing and relay start anew, and what they knew is gone",
		Applies: func(s result.Setup) error {
			if s.Design == Baseline {
				return fmt.Errorf("the design %s has nothing on the router that a reboot would lose", s.Design)
			}
			return nil
		},
		Act: func(ctx context.Context, r *Run) error {
			r.Say("the router restarts")
			if relay := r.Bench.Relay(); relay != nil {
				return r.restart(ctx, relay)
			}
			return r.Bench.Router().Restart(ctx)
		},
		Proof: func(r *Run) []result.Proof {
			if r.Bench.Relay() != nil {
				return []result.Proof{r.served(r.Node), r.witnessed(relayGone)}
			}
			return []result.Proof{r.served(r.Node), r.forgot()}
		},
	}
}

// relayGone is what is seen of a relay's restart.
const relayGone = "the relay was gone for a moment"

// restart kills a relay as a reboot does, and starts it.
func (r *Run) restart(ctx context.Context, relay bench.Daemon) error {
	if err := relay.Kill(ctx); err != nil {
		return err
	}
	gone := !relay.Running()
	if err := relay.Start(ctx); err != nil {
		return err
	}
	r.Witness(relayGone, gone && relay.Running(), "%s did not run after its kill, by the kernel's process table, and ran again later",
		relay.Name())
	return nil
}

// forgot is the proof that no node was behind the service address in the
// router's kernel for a while after the action.
func (r *Run) forgot() result.Proof {
	p := result.Proof{Claim: "the router forgot its routes", Evidence: "its kernel's next hops never were without a node"}
	from := r.phase(Action).From
	for _, e := range r.routes() {
		named := slices.ContainsFunc(r.Bench.Nodes(), func(n bench.Node) bool {
			return slices.Contains(strings.Split(e.Text, ", "), n.Name())
		})
		if e.At.After(from) && !named {
			p.Holds = true
			p.Evidence = fmt.Sprintf("its kernel told of next hops without a node %s after the action began", load.Brief(e.At.Sub(from)))
			break
		}
	}
	return p
}
