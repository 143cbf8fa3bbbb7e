package netns

import (
	"context"
	"fmt"
	"net/netip"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/cable"
	"recuse/lab/topology"
)

// node is a node of the lab.
type node struct {
	*topology.Node
	bench *network
}

// Name is the node's name, which its resolver says in every answer.
func (n *node) Name() string { return n.ShortName }

// Address is the node's own.
func (n *node) Address() netip.Addr { return n.V4 }

// Resolver is unbound.
func (n *node) Resolver() bench.Daemon {
	return &daemon{n.ShortName + " unbound", []*topology.Process{n.Node.Resolver}}
}

// Agent is what announces; nil in a design without it.
func (n *node) Agent() bench.Daemon {
	if a := n.agent(); a != nil {
		return a
	}
	return nil
}

// agent is Agent as what it is.
func (n *node) agent() *daemon {
	if n.bench.options.Design != Anycast {
		return nil
	}
	return &daemon{n.ShortName + " " + n.bench.lab.Agent().Name(), n.Agents}
}

// Freeze silences the node at once.
func (n *node) Freeze(context.Context) error { return n.Node.Freeze() }

// Thaw undoes Freeze.
func (n *node) Thaw(context.Context) error { return n.Node.Thaw() }

// Kill kills every process of the node.
func (n *node) Kill(context.Context) error { return n.Node.Kill() }

// Start starts what Kill ended.
func (n *node) Start(ctx context.Context) error {
	if err := n.Resolver().Start(ctx); err != nil {
		return err
	}
	if a := n.agent(); a != nil {
		return a.Start(ctx)
	}
	return nil
}

// Answers makes the node's resolver answer so.
func (n *node) Answers(ctx context.Context, b authority.Behaviour) error { return n.Behave(ctx, b) }

// Wire shapes the node's cable.
func (n *node) Wire(_ context.Context, w bench.Wire) error {
	return n.Shape(cable.Shape{Delay: w.Delay, Loss: w.Loss, Cut: w.Cut})
}

// Drain takes the service out of the routing.
func (n *node) Drain(ctx context.Context) error { return n.operate(ctx, "drain") }

// Undrain takes it back.
func (n *node) Undrain(ctx context.Context) error { return n.operate(ctx, "undrain") }

// operate gives recuse an operator's command for the service.
func (n *node) operate(ctx context.Context, verb string) error {
	if n.Node.Agent == nil {
		return fmt.Errorf("%s: %w: the agent knows no such command", verb, bench.ErrUnsupported)
	}
	_, err := n.Run(ctx, n.bench.options.Recuse, verb, topology.ServiceName, "-c", n.Path(topology.ConfigFile))
	return err
}

// Upgrade stops the agent in order and starts it again, as a package does that
// brings a new program.
func (n *node) Upgrade(ctx context.Context) error {
	a := n.agent()
	if a == nil {
		return fmt.Errorf("an upgrade: %w: the design %s has no agent", bench.ErrUnsupported, n.bench.options.Design)
	}
	if err := a.Stop(ctx); err != nil {
		return err
	}
	return a.Start(ctx)
}
