package scenario

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// fake is a bench that needs no privileges: one DNS server on loopback stands
// for all nodes and gives each flow to one of them. It is there to test what the
// runner and the proofs make of a bench; what agents and routers do is tested on
// the real one.
type fake struct {
	setup   result.Setup
	server  netip.AddrPort
	clients int

	mu     sync.Mutex // guards all below, the nodes included
	nodes  []*fakeNode
	relay  *fakeDaemon
	zones  map[string]*authority.Zone
	wide   bool // cut off
	reboot bool // the router has no routes
	events chan result.Event
}

// newFake starts a fake of a design with three nodes.
func newFake(t *testing.T, design string, clients int) *fake {
	f := &fake{setup: result.Setup{Design: design, Router: "frr", Agent: "recuse", Backend: "fake"},
		clients: max(clients, 5), events: make(chan result.Event, 1000),
		zones: map[string]*authority.Zone{authority.Root: {}, authority.LAN: {}, authority.Internet: {}}}
	for range 3 {
		f.add()
	}
	if design == Relay {
		f.relay = f.daemon("relay")
	}
	conn, listener, err := listen()
	if err != nil {
		panic(err) // from any goroutine
	}
	f.server = conn.LocalAddr().(*net.UDPAddr).AddrPort()
	for _, s := range []*dns.Server{{PacketConn: conn, Handler: f}, {Listener: listener, Handler: f}} {
		done := make(chan struct{})
		go func() { defer close(done); _ = s.ActivateAndServe() }()
		t.Cleanup(func() { _ = s.Shutdown(); <-done })
	}
	return f
}

// listen opens one free port of loopback over UDP and TCP.
func listen() (*net.UDPConn, *net.TCPListener, error) {
	for {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, nil, err
		}
		listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(conn.LocalAddr().(*net.UDPAddr).AddrPort()))
		if err == nil {
			return conn, listener, nil
		}
		_ = conn.Close()
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, nil, err
		}
	}
}

// add adds a node that runs.
func (f *fake) add() *fakeNode {
	n := &fakeNode{fake: f, name: "n" + string(rune('1'+len(f.nodes)))}
	n.resolver, n.agent = f.daemon(n.name+" resolver"), f.daemon(n.name+" agent")
	f.nodes = append(f.nodes, n)
	return n
}

// daemon is a daemon that runs.
func (f *fake) daemon(name string) *fakeDaemon {
	return &fakeDaemon{fake: f, name: name, running: true}
}

// change changes the fake and tells if the router's next hops became others.
func (f *fake) change(do func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.hops()
	do()
	if now := f.hops(); f.setup.Design == Anycast && !slices.Equal(was, now) {
		f.events <- result.Event{At: time.Now(), Lane: laneRoutes, State: "changed", Text: strings.Join(now, ", ")}
	}
	return nil
}

// hops are the nodes that the router sends flows to.
func (f *fake) hops() []string {
	var hops []string
	for _, n := range f.nodes {
		if !f.reboot && !n.silent() && !n.drained && n.agent.running {
			hops = append(hops, n.name)
		}
	}
	return hops
}

// Setup implements bench.Bench, as do the others.
func (f *fake) Setup() result.Setup                        { return f.setup }
func (f *fake) Settings() []string                         { return nil }
func (f *fake) Servers() []netip.AddrPort                  { return []netip.AddrPort{f.server} }
func (f *fake) Network(int) load.Network                   { return load.Network{} }
func (f *fake) Clients() int                               { return f.clients }
func (f *fake) Router() bench.Router                       { return fakeRouter{f} }
func (f *fake) Versions(context.Context) map[string]string { return nil }
func (f *fake) Logs(string) error                          { return nil }
func (f *fake) Close() error                               { return nil }
func (f *fake) Ready(ctx context.Context) error            { return ctx.Err() }
func (f *fake) AddNode(context.Context) (n bench.Node, _ error) {
	return n, f.change(func() { n = f.add() })
}

// Relay is nil without one.
func (f *fake) Relay() bench.Daemon {
	if f.relay == nil {
		return nil
	}
	return f.relay
}

// Nodes are all nodes.
func (f *fake) Nodes() []bench.Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	var nodes []bench.Node
	for _, n := range f.nodes {
		nodes = append(nodes, n)
	}
	return nodes
}

// Zone makes a zone fail for nodes, or all.
func (f *fake) Zone(_ context.Context, zone string, b authority.Behaviour, nodes ...bench.Node) error {
	return f.change(func() {
		for _, n := range f.nodes {
			if len(nodes) == 0 || slices.Contains(nodes, bench.Node(n)) {
				n.lost = b.Failure != authority.None
			}
		}
	})
}

// Zones copies the counters.
func (f *fake) Zones(context.Context) (map[string]authority.Zone, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	zones := map[string]authority.Zone{}
	for apex, z := range f.zones {
		zones[apex] = *z
	}
	return zones, nil
}

// Observe tells the next hops, and their changes.
func (f *fake) Observe(ctx context.Context) (<-chan result.Event, error) {
	out := make(chan result.Event)
	first := result.Event{At: time.Now(), Lane: laneRoutes, Text: strings.Join(f.hops(), ", ")}
	go func() {
		defer close(out)
		for e := first; ; {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
			select {
			case e = <-f.events:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}
