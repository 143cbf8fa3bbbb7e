package scenario

import (
	"context"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/bench"
)

// fakeNode is a node of a fake.
type fakeNode struct {
	fake            *fake
	name            string
	resolver, agent *fakeDaemon
	frozen, drained bool
	lost            bool // has no authority for the home's zone
	drops           bool // what clients ask
	answers         authority.Behaviour
	asked           int
	traffic         bench.Traffic
}

// silent reports whether the node says nothing.
func (n *fakeNode) silent() bool { return n.frozen || !n.resolver.running }

// Name implements bench.Node, as do the others.
func (n *fakeNode) Name() string           { return n.name }
func (n *fakeNode) Address() netip.Addr    { return n.fake.server.Addr() }
func (n *fakeNode) Resolver() bench.Daemon { return n.resolver }

// Agent is nil in a design without.
func (n *fakeNode) Agent() bench.Daemon {
	if n.fake.setup.Design != Anycast {
		return nil
	}
	return n.agent
}

// set changes the node.
func (n *fakeNode) set(field *bool, to bool) error { return n.fake.change(func() { *field = to }) }

func (n *fakeNode) Freeze(context.Context) error                { return n.set(&n.frozen, true) }
func (n *fakeNode) Thaw(context.Context) error                  { return n.set(&n.frozen, false) }
func (n *fakeNode) DropClients(_ context.Context, d bool) error { return n.set(&n.drops, d) }
func (n *fakeNode) Drain(context.Context) error                 { return n.set(&n.drained, true) }
func (n *fakeNode) Undrain(context.Context) error               { return n.set(&n.drained, false) }
func (n *fakeNode) Wire(context.Context, bench.Wire) error      { return bench.ErrUnsupported }
func (n *fakeNode) Kill(context.Context) error                  { return n.run(false) }
func (n *fakeNode) Start(context.Context) error                 { return n.run(true) }
func (n *fakeNode) Answers(_ context.Context, b authority.Behaviour) error {
	return n.fake.change(func() { n.answers = b })
}

// run starts or ends all.
func (n *fakeNode) run(yes bool) error {
	return n.fake.change(func() { n.resolver.running, n.agent.running = yes, yes })
}

// Upgrade stops the agent and starts it.
func (n *fakeNode) Upgrade(ctx context.Context) error {
	if err := n.agent.Stop(ctx); err != nil {
		return err
	}
	return n.agent.Start(ctx)
}

// Seen copies the counters.
func (n *fakeNode) Seen(context.Context) (bench.Traffic, error) {
	n.fake.mu.Lock()
	defer n.fake.mu.Unlock()
	return n.traffic, nil
}

// fakeDaemon is a daemon of a fake.
type fakeDaemon struct {
	fake    *fake
	name    string
	running bool
}

// Name implements bench.Daemon, as do the others.
func (d *fakeDaemon) Name() string                { return d.name }
func (d *fakeDaemon) Start(context.Context) error { return d.fake.change(func() { d.running = true }) }
func (d *fakeDaemon) Stop(context.Context) error  { return d.fake.change(func() { d.running = false }) }
func (d *fakeDaemon) Kill(context.Context) error  { return d.fake.change(func() { d.running = false }) }
func (d *fakeDaemon) Pause() error                { return nil }
func (d *fakeDaemon) Continue() error             { return nil }

// Running reports whether it runs.
func (d *fakeDaemon) Running() bool {
	d.fake.mu.Lock()
	defer d.fake.mu.Unlock()
	return d.running
}

// fakeRouter is the router of a fake.
type fakeRouter struct{ *fake }

// Restart forgets the routes and learns them again.
func (r fakeRouter) Restart(context.Context) error {
	_ = r.change(func() { r.reboot = true })
	return r.change(func() { r.reboot = false })
}

// NextHops implements bench.Router, as do the others.
func (r fakeRouter) NextHops(context.Context) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hops(), nil
}
func (r fakeRouter) Wide(_ context.Context, cut bool) error { return r.change(func() { r.wide = cut }) }
func (r fakeRouter) Resilient(context.Context, bool) error  { return nil }

// ServeDNS gives a question to the node of its flow, which answers as it is.
func (f *fake) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(q)
	node, wait := f.serve(w.RemoteAddr(), q.Question[0].Name)
	if node == "" {
		return
	}
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hex.EncodeToString([]byte(node))}}
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp && q.Question[0].Qtype == dns.TypeTXT {
		m.Truncated = true
	}
	if wait > 0 {
		time.AfterFunc(wait, func() { _ = w.WriteMsg(m) })
		return
	}
	_ = w.WriteMsg(m)
}

// serve is the node that answers, and after how long; "" for none.
func (f *fake) serve(from net.Addr, name string) (node string, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.pick(from)
	if n == nil {
		return "", 0
	}
	n.traffic.Queries++
	if n.drops {
		n.traffic.Dropped++
	}
	if n.drops || n.silent() || !f.resolve(n, name) {
		return "", 0
	}
	n.traffic.Answers++
	if n.asked++; n.answers.Part > 0 && n.asked%3 != 0 {
		return n.name, 0
	}
	return n.name, n.answers.Delay
}

// pick is the node that a flow goes to: in a design without routing the first.
func (f *fake) pick(from net.Addr) *fakeNode {
	if f.setup.Design != Anycast {
		return f.nodes[0]
	}
	hops := f.hops()
	if len(hops) == 0 {
		return nil
	}
	name := hops[int(netip.MustParseAddrPort(from.String()).Port()/2)%len(hops)]
	for _, n := range f.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// resolve asks the zone of a name for a node and reports whether it answered.
func (f *fake) resolve(n *fakeNode, name string) bool {
	apex, reached := authority.Internet, !f.wide
	if strings.HasSuffix(name, "."+authority.LAN) {
		apex, reached = authority.LAN, true
	}
	if !reached {
		return false
	}
	z := f.zones[apex]
	z.Queries++
	if apex == authority.LAN && n.lost {
		z.Failed++
		return false
	}
	return true
}
