package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// startAuthority starts the authority and waits until it serves.
func (l *Lab) startAuthority(ctx context.Context) error { return l.Authority.start(ctx) }

// startRouters configures every router from the nodes and starts it.
func (l *Lab) startRouters(ctx context.Context) error {
	for _, r := range l.Routers {
		text, err := l.routerConfig(ctx, r)
		if err != nil {
			return err
		}
		if err := r.Configure(text); err != nil {
			return err
		}
		if l.options.KernelSettings {
			if err := l.setKernel(ctx, r, text); err != nil {
				return err
			}
		}
		if l.options.WithoutRouter {
			continue
		}
		if err := r.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startNodes starts resolvers and agents together and waits for the resolvers.
func (l *Lab) startNodes(ctx context.Context) error {
	for _, n := range l.Nodes {
		if err := l.startNode(ctx, n); err != nil {
			return err
		}
	}
	if l.options.WithoutResolver {
		return nil
	}
	for _, n := range l.Nodes {
		if err := n.WaitResolver(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts a node's resolver and its agent.
func (l *Lab) startNode(ctx context.Context, n *Node) error {
	if !l.options.WithoutResolver {
		if err := n.Resolver.Start(); err != nil {
			return err
		}
	}
	if l.options.WithoutAgent {
		return nil
	}
	return launch(ctx, n.Agents)
}

// WaitAnnounced waits until every router's kernel sends every service address
// to exactly these nodes, over both families' own next hops, and in a lab with
// BFD until that is up too.
func (l *Lab) WaitAnnounced(ctx context.Context, d time.Duration, nodes ...*Node) error {
	for _, r := range l.Routers {
		if err := l.WaitNextHops(ctx, d, r, nodes...); err != nil {
			return err
		}
	}
	if l.options.BFD == nil {
		return nil
	}
	return l.WaitBFD(ctx, d, nodes...)
}

// WaitNextHops is WaitAnnounced for one router. Of nodes that serve in turn it
// waits for one.
func (l *Lab) WaitNextHops(ctx context.Context, d time.Duration, r *Router, nodes ...*Node) error {
	if _, turns := l.agent.(Turns); turns {
		return l.waitTurn(ctx, d, r, nodes)
	}
	what := fmt.Sprintf("%d nodes as next hops in the kernel of %s", len(nodes), r.ShortName)
	return Within(ctx, d, what, func() (bool, string) {
		saw := ""
		ok := true
		for _, p := range l.options.Addresses {
			hops, err := r.NextHops(p)
			ok = ok && err == nil && slices.Equal(hops, hopsOf(nodes, p.Addr().Is6()))
			saw += fmt.Sprint(p, " via ", hops, " ", errors.Join(err), "; ")
		}
		return ok, saw
	})
}
