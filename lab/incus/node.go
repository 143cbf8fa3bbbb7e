package incus

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/bench/meter"
	"recuse/lab/cable"
	"recuse/lab/topology"
)

// node is a container with a resolver and recuse.
type node struct {
	bench *network
	box   *box
	index int
	guest *topology.Node // in the container's network while it runs
	seen  bench.Traffic  // by the kernels of the container that are gone
	dead  bool
}

// describe describes the node with that index and writes its files.
func (b *network) describe(index int) (*node, error) {
	box, err := newBox(b.daemon, b.run, fmt.Sprintf("n%d", index+1), topology.NodePorts)
	if err != nil {
		return nil, err
	}
	return &node{bench: b, box: box, index: index}, b.options.files(b.site, box, index)
}

// make makes the node's container, with the unit that recuse ships with.
func (n *node) make(ctx context.Context) error {
	if err := n.box.create(ctx); err != nil {
		return err
	}
	return n.box.push(ctx, n.bench.options.Unit, "/etc/systemd/system/recuse.service")
}

// boot starts the container and gives it its addresses, before the first of its
// services needs them.
func (n *node) boot(ctx context.Context) error {
	pid, err := n.box.start(ctx)
	if err != nil {
		return err
	}
	guest, err := n.bench.site.GuestNode(n.index, pid)
	if err != nil {
		return err
	}
	n.guest, n.dead = guest, false
	return meter.Start(ctx, n.guest.Host)
}

// leave gives the container's network back, if it has one.
func (n *node) leave() error {
	if n.guest == nil || n.dead {
		return nil
	}
	n.dead = true
	return n.guest.Leave()
}

// answers waits until the node's resolver answers on its own address.
func (n *node) answers(ctx context.Context) error {
	return topology.WaitFor(ctx, "the resolver of "+n.box.name+" answer", func() (bool, string) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		m, err := n.guest.Ask(ctx, n.guest.V4, "router.lan.", dns.TypeA)
		if err != nil {
			return false, err.Error()
		}
		return m.Rcode == dns.RcodeSuccess, dns.RcodeToString[m.Rcode]
	})
}

// Name is the node's name, which unbound says in every answer.
func (n *node) Name() string { return n.box.name }

// Address is the node's own.
func (n *node) Address() netip.Addr { return n.guest.V4 }

// Resolver is unbound's unit, or AdGuard Home's.
func (n *node) Resolver() bench.Daemon {
	if n.bench.options.AdGuardHome != "" {
		return service{n.box, "adguardhome"}
	}
	return service{n.box, "unbound"}
}

// Agent is recuse's unit.
func (n *node) Agent() bench.Daemon { return service{n.box, "recuse"} }

// Freeze is `incus pause`: the kernel's freezer holds every process of the
// container at once. Its kernel still answers pings, as no frozen box would.
func (n *node) Freeze(ctx context.Context) error { return n.box.pause(ctx) }

// Thaw undoes Freeze.
func (n *node) Thaw(ctx context.Context) error { return n.box.resume(ctx) }

// Kill ends the container without a word to its services. Its interface goes
// with it, and what its kernel had counted is kept.
func (n *node) Kill(ctx context.Context) error {
	if err := n.box.kill(ctx); err != nil {
		return err
	}
	var err error
	if n.seen, err = n.Seen(ctx); err != nil {
		return err
	}
	return n.leave()
}

// Start boots what Kill ended.
func (n *node) Start(ctx context.Context) error { return n.boot(ctx) }

// Answers makes the node's resolver answer so.
func (n *node) Answers(ctx context.Context, b authority.Behaviour) error {
	return n.guest.Behave(ctx, b)
}

// Wire shapes all that the node sends and receives.
func (n *node) Wire(_ context.Context, w bench.Wire) error {
	return n.guest.Shape(cable.Shape{Delay: w.Delay, Loss: w.Loss, Cut: w.Cut})
}

// DropClients makes the node's firewall drop what clients send to port 53.
func (n *node) DropClients(ctx context.Context, drop bool) error {
	if !drop {
		return meter.Drop(ctx, n.guest.Host)
	}
	four, six := n.bench.site.ClientRanges()
	return meter.Drop(ctx, n.guest.Host, four, six)
}

// Seen reads the counters of the node's kernel, from outside of the container,
// so that it can be frozen.
func (n *node) Seen(ctx context.Context) (bench.Traffic, error) {
	if n.dead {
		return n.seen, nil
	}
	now, err := meter.Read(ctx, n.guest.Host)
	return bench.Traffic{Queries: n.seen.Queries + now.Queries, Answers: n.seen.Answers + now.Answers,
		Dropped: n.seen.Dropped + now.Dropped}, err
}

// Drain is `recuse drain`.
func (n *node) Drain(ctx context.Context) error { return n.operate(ctx, "drain") }

// Undrain is `recuse undrain`.
func (n *node) Undrain(ctx context.Context) error { return n.operate(ctx, "undrain") }

// operate gives recuse an operator's command for the service.
func (n *node) operate(ctx context.Context, verb string) error {
	_, err := n.box.run(ctx, "recuse", verb, topology.ServiceName)
	return err
}

// Upgrade restarts the unit, as a package does that brings a new program.
func (n *node) Upgrade(ctx context.Context) error {
	return service{n.box, "recuse"}.systemctl(ctx, "restart")
}
