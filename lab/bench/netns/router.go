package netns

import (
	"context"
	"fmt"

	"recuse/lab/bench"
	"recuse/lab/topology"
)

// router is the lab's router.
type router struct {
	*topology.Router
	bench *network
}

// NextHops are the names behind the service address in the router's kernel: of
// nodes that serve in turn the one whose turn it is.
func (r *router) NextHops(ctx context.Context) ([]string, error) {
	if n, turns, err := r.bench.lab.Turn(ctx, r.Router); turns {
		if n == nil || err != nil {
			return nil, err
		}
		return []string{n.ShortName}, nil
	}
	hops, err := r.Router.NextHops(service)
	if err != nil {
		return nil, err
	}
	return r.bench.names(hops), nil
}

// Wide cuts the router off from the internet's authority.
func (r *router) Wide(ctx context.Context, cut bool) error { return r.bench.lab.CutWide(ctx, cut) }

// Restart is what a reboot does to the router's daemons and routes.
func (r *router) Restart(ctx context.Context) error { return r.Reboot(ctx) }

// Resilient puts resilient groups of the kernel before the router's own.
func (r *router) Resilient(ctx context.Context, on bool) error {
	if r.bench.options.Design != Anycast {
		return fmt.Errorf("resilient groups: %w: the design %s has no routes", bench.ErrUnsupported, r.bench.options.Design)
	}
	return r.bench.lab.Resilient(ctx, on)
}
