package netns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// dnsPort is where every server of the lab listens.
const dnsPort = 53

// readyWithin is how long a design may take until all of it serves: on a box with
// more to do than it can, and with BIRD on the nodes, which at its defaults waits
// a minute or more behind FRR.
const readyWithin = 150 * time.Second

// service is the service address that the clients ask.
var service = topology.DefaultAddresses()[0]

// network is a raised design.
type network struct {
	options Options
	lab     *topology.Lab
	nodes   []*node
	router  *router
	relay   bench.Daemon
}

// New raises a design and returns when its parts run; Ready waits until all
// serves. When ctx ends the bench closes itself.
func New(ctx context.Context, o Options) (bench.Bench, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("failed to raise a bench: %w", err)
	}
	lab, err := topology.New(ctx, o.topology())
	if err != nil {
		return nil, err
	}
	b := &network{options: o, lab: lab}
	b.router = &router{Router: lab.Router, bench: b}
	if r := lab.Relay; r != nil {
		b.relay = &daemon{"relay dnsdist", []*topology.Process{r.Process}}
	}
	for _, n := range lab.Nodes {
		if err := b.adopt(n); err != nil {
			return nil, errors.Join(err, lab.Close())
		}
	}
	if o.Resilient {
		if err := b.router.Resilient(ctx, true); err != nil {
			return nil, errors.Join(err, lab.Close())
		}
	}
	return b, nil
}

// adopt makes a node of the lab one of the bench's.
func (b *network) adopt(n *topology.Node) error {
	own := &node{Node: n, bench: b}
	if err := own.meter(); err != nil {
		return err
	}
	b.nodes = append(b.nodes, own)
	return nil
}

// Setup says what was raised.
func (b *network) Setup() result.Setup {
	o := b.options
	s := result.Setup{Design: o.Design, Agent: "none", Tuned: o.Tuned, Router: o.Router,
		Layout: o.Layout, LastResort: o.LastResort, Backend: "namespaces"}
	if o.Design == Anycast {
		s.Agent = b.lab.Agent().Name()
	}
	return s
}

// Servers are what DHCP would give the clients: the first two nodes, the relay,
// or the service address.
func (b *network) Servers() []netip.AddrPort {
	at := []netip.Addr{service.Addr()}
	switch b.options.Design {
	case Baseline:
		at = []netip.Addr{b.lab.Nodes[0].V4, b.lab.Nodes[1].V4}
	case Relay:
		at = []netip.Addr{b.lab.Relay.Address}
	}
	var servers []netip.AddrPort
	for _, a := range at {
		servers = append(servers, netip.AddrPortFrom(a, dnsPort))
	}
	return servers
}

// Network is where client i's sockets are opened.
func (b *network) Network(i int) load.Network {
	c, own := b.lab.Asker(i)
	return load.Network{Do: c.Do, Local: own}
}

// Clients is how many there are.
func (b *network) Clients() int { return b.options.Clients }

// Nodes are the nodes, those that were added included.
func (b *network) Nodes() []bench.Node { return bench.All(b.nodes) }

// Router is the router.
func (b *network) Router() bench.Router { return b.router }

// Relay is the relay's daemon.
func (b *network) Relay() bench.Daemon { return b.relay }

// Zone makes a zone behave so towards these nodes, or all if none is named.
func (b *network) Zone(ctx context.Context, zone string, how authority.Behaviour, nodes ...bench.Node) error {
	if len(nodes) == 0 {
		return b.lab.Authority.SetAll(ctx, zone, how)
	}
	own, err := bench.Own[*node](nodes)
	if err != nil {
		return err
	}
	var those []*topology.Node
	for _, n := range own {
		those = append(those, n.Node)
	}
	return b.lab.Authority.SetFor(ctx, zone, how, those...)
}

// Zones says what every zone was asked and how often it failed.
func (b *network) Zones(ctx context.Context) (map[string]authority.Zone, error) {
	return b.lab.Authority.Zones(ctx)
}

// AddNode raises one node more, under the running clients.
func (b *network) AddNode(ctx context.Context) (bench.Node, error) {
	if b.options.Design != Anycast {
		return nil, fmt.Errorf("a node more: %w: the clients of the design %s would need a new configuration",
			bench.ErrUnsupported, b.options.Design)
	}
	n, err := b.lab.AddNode(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.adopt(n); err != nil {
		return nil, err
	}
	return b.nodes[len(b.nodes)-1], nil
}

// Ready waits until every node serves.
func (b *network) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for _, n := range b.nodes {
		if err := n.WaitResolver(ctx); err != nil {
			return err
		}
	}
	switch b.options.Design {
	case Anycast:
		if b.options.Agent != nil {
			return b.outsideReady(ctx)
		}
		return b.lab.WaitAnnounced(ctx, readyWithin, b.lab.Nodes...)
	case Relay:
		return b.lab.WaitRelay(ctx, b.lab.Nodes[0])
	}
	return nil
}

// Close ends all of it.
func (b *network) Close() error { return b.lab.Close() }
