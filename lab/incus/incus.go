package incus

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/bench/netns"
	"recuse/lab/load"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// imageAlias is the image's name in incusd.
const imageAlias = "recuse-lab"

// dnsPort is where every server of the lab listens.
const dnsPort = 53

// readyWithin is how long the containers may take until all serve, on a box with
// more to do than it can.
const readyWithin = 90 * time.Second

// service address that the clients ask.
var serviceAddress = topology.DefaultAddresses()[0]

// network is the raised design.
type network struct {
	options Options
	site    *topology.Lab
	run     *run
	daemon  *daemon
	router  routing
	nodes   []*node
	unhook  func() bool
	close   func() error
}

// New raises the design and returns when its containers run; Ready waits until
// all serve. Without the image in the cache it makes it first, which takes a
// minute. When ctx ends the bench closes itself.
func New(ctx context.Context, o Options) (bench.Bench, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("failed to raise a bench: %w", err)
	}
	if err := Missing(); err != nil {
		return nil, err
	}
	path, err := image(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &network{options: o, unhook: func() bool { return true }}
	b.close = sync.OnceValue(b.tearDown)
	if err := b.raise(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to raise a bench: %w", err), b.close())
	}
	b.unhook = context.AfterFunc(ctx, func() {
		if err := b.close(); err != nil {
			o.Log.Error("bench did not close cleanly", "error", err)
		}
	})
	return b, nil
}

// Setup says what was raised.
func (b *network) Setup() result.Setup {
	return result.Setup{Design: netns.Anycast, Agent: "recuse", Tuned: b.options.Tuned, Router: b.options.Router,
		Layout: topology.Routed, LastResort: topology.None, Backend: "incus"}
}

// Settings are the settings that count.
func (b *network) Settings() []string {
	resolver := "unbound, infra-host-ttl 1 s"
	if b.options.AdGuardHome != "" {
		resolver = "AdGuard Home"
	}
	bfd := b.options.site().BFD
	s := []string{
		fmt.Sprintf("%d Debian containers (%s) with %s and recuse under its systemd unit", b.options.Nodes, b.options.Arch, resolver),
		"recuse: BFD " + bfd.String(),
		"the unit without real-time scheduling, which a container may not have",
		b.router.settings(),
	}
	if b.options.Emulate {
		s = append(s, "emulated: times say nothing")
	}
	return s
}

// Servers are what DHCP would give the clients.
func (b *network) Servers() []netip.AddrPort {
	return []netip.AddrPort{netip.AddrPortFrom(serviceAddress.Addr(), dnsPort)}
}

// Network is where client i's sockets are opened.
func (b *network) Network(i int) load.Network {
	c, own := b.site.Asker(i)
	return load.Network{Do: c.Do, Local: own}
}

// Clients is how many there are.
func (b *network) Clients() int { return b.options.Clients }

// Nodes are the nodes, one that was added included.
func (b *network) Nodes() []bench.Node { return bench.All(b.nodes) }

// Inside is what enters each container, by the name of its host.
func (b *network) Inside() map[string][]string {
	into := map[string][]string{}
	for _, n := range b.nodes {
		into[n.box.name] = n.box.inside()
	}
	if r, ok := b.router.(*router); ok {
		into[r.box.name] = r.box.inside()
	}
	return into
}

// Router is the router.
func (b *network) Router() bench.Router { return b.router }

// Relay is nil: the design has none.
func (b *network) Relay() bench.Daemon { return nil }

// Zone makes a zone behave so towards these nodes, or all if none is named.
func (b *network) Zone(ctx context.Context, zone string, how authority.Behaviour, nodes ...bench.Node) error {
	if len(nodes) == 0 {
		return b.site.Authority.SetAll(ctx, zone, how)
	}
	own, err := bench.Own[*node](nodes)
	if err != nil {
		return err
	}
	var those []*topology.Node
	for _, n := range own {
		those = append(those, n.guest)
	}
	return b.site.Authority.SetFor(ctx, zone, how, those...)
}

// Zones says what every zone was asked and how often it failed.
func (b *network) Zones(ctx context.Context) (map[string]authority.Zone, error) {
	return b.site.Authority.Zones(ctx)
}

// AddNode raises the one node more that the router knows of.
func (b *network) AddNode(ctx context.Context) (bench.Node, error) {
	if len(b.nodes) > b.options.Nodes {
		return nil, errors.New("failed to add a node: no spare one is left")
	}
	n, err := b.describe(len(b.nodes))
	if err != nil {
		return nil, err
	}
	if err := n.make(ctx); err != nil {
		return nil, err
	}
	if err := n.boot(ctx); err != nil {
		return nil, err
	}
	b.nodes = append(b.nodes, n)
	return n, nil
}

// Ready waits until every node serves, in the router's kernel and by its BFD.
func (b *network) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for _, n := range b.nodes {
		if err := n.answers(ctx); err != nil {
			return err
		}
	}
	return b.router.ready(ctx)
}

// Close ends all of it.
func (b *network) Close() error {
	b.unhook()
	return b.close()
}
