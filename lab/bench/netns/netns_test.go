package netns_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/bench/netns"
	"recuse/lab/load"
	"recuse/lab/result"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// The tests of this package need root and the routers; see labtest.Require.

// soon bounds what a test waits for on a busy box.
const soon = 30 * time.Second

// raise raises a design that ends with the test.
func raise(t *testing.T, o netns.Options) bench.Bench {
	t.Helper()
	if o.Router == "" {
		o.Router = topology.FRR
	}
	labtest.Require(t, o.Router)
	o.Recuse = filepath.Join(labtest.Build(t), "recuse")
	b, err := netns.New(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("failed to close the bench: %v", err)
		}
	})
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tally is what became of questions: the answers by node, and the lost ones.
type tally struct {
	nodes map[string]int
	lost  int
}

// ask puts n questions to a server from client i, each from a new port.
func ask(t *testing.T, b bench.Bench, i int, server netip.AddrPort, n int) tally {
	t.Helper()
	all := tally{nodes: map[string]int{}}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			node, err := one(b.Network(i), server, "nas.lan.")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				all.lost++
			} else {
				all.nodes[node]++
			}
		})
	}
	wait.Wait()
	return all
}

// one puts a question and returns the node that answered, by NSID.
func one(from load.Network, server netip.AddrPort, name string) (string, error) {
	var conn *net.UDPConn
	if err := from.Do(func() (err error) {
		conn, err = net.DialUDP("udp", &net.UDPAddr{IP: from.Local[0].AsSlice()}, net.UDPAddrFromAddrPort(server))
		return err
	}); err != nil {
		return "", err
	}
	defer conn.Close()
	return over(conn, name)
}

// over puts a question over a socket and returns the node that answered.
func over(conn *net.UDPConn, name string) (string, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}
	c := dns.Client{Timeout: 3 * time.Second}
	r, _, err := c.ExchangeWithConn(m, &dns.Conn{Conn: conn})
	if err != nil {
		return "", err
	}
	for _, o := range r.IsEdns0().Option {
		name, err := hex.DecodeString(o.String())
		return string(name), err
	}
	return "", nil
}

// hops waits until these nodes alone are the router's next hops.
func hops(t *testing.T, b bench.Bench, want ...string) {
	t.Helper()
	var got []string
	if err := topology.Within(t.Context(), soon, "next hops", func() (bool, string) {
		var err error
		got, err = b.Router().NextHops(t.Context())
		return err == nil && slices.Equal(got, want), "next hops"
	}); err != nil {
		t.Fatalf("the router's next hops are %v, want %v: %v", got, want, err)
	}
}

// TestAnycast takes the design through what a scenario does to a node, and reads
// the proof of each from the node's kernel.
func TestAnycast(t *testing.T) {
	t.Parallel()
	b := raise(t, netns.Options{Clients: 3})
	ctx := t.Context()
	n1 := b.Nodes()[0]
	hops(t, b, "n1", "n2", "n3")
	events := watch(t, b)

	f := ask(t, b, 2, b.Servers()[0], 60)
	before, err := n1.Seen(ctx)
	must(t, err)
	if f.lost != 0 || before.Queries < f.nodes["n1"] || before.Answers < f.nodes["n1"] || before.Queries == 0 {
		t.Errorf("figures %+v, seen at n1 %+v", f, before)
	}
	must(t, n1.DropClients(ctx, true))
	f = ask(t, b, 1, b.Servers()[0], 60)
	after, err := n1.Seen(ctx)
	must(t, err)
	if f.lost == 0 || after.Dropped != f.lost || after.Queries-before.Queries != f.lost {
		t.Errorf("lost %d, seen at n1 %+v after %+v", f.lost, after, before)
	}
	must(t, n1.DropClients(ctx, false))

	must(t, n1.Drain(ctx))
	hops(t, b, "n2", "n3")
	must(t, n1.Undrain(ctx))
	must(t, b.Nodes()[1].Freeze(ctx))
	hops(t, b, "n1", "n3")
	must(t, b.Nodes()[1].Thaw(ctx))
	must(t, b.Nodes()[2].Kill(ctx))
	hops(t, b, "n1", "n2")
	must(t, b.Nodes()[2].Start(ctx))
	must(t, b.Ready(ctx))
	added, err := b.AddNode(ctx)
	must(t, err)
	must(t, b.Ready(ctx))
	hops(t, b, "n1", "n2", "n3", added.Name())
	checkEvents(t, events())
}

// TestResilient adds a node under flows that keep their ports: none of them
// moves, and new ones find the new node. The router's reboot makes the groups
// anew.
func TestResilient(t *testing.T) {
	t.Parallel()
	b := raise(t, netns.Options{Nodes: 2, Resilient: true})
	flows := openFlows(t, b, 50)
	first := flows.ask(t)
	added := make(chan error, 1)
	go func() {
		_, err := b.AddNode(t.Context())
		added <- err
	}()
	must(t, topology.Within(t.Context(), soon, "the new node answer a new flow", func() (bool, string) {
		if d := cmp.Diff(first, flows.ask(t)); d != "" {
			t.Fatalf("flows moved (-before +after):\n%s", d)
		}
		who, err := one(b.Network(0), b.Servers()[0], "nas.lan.")
		return who == "n3", fmt.Sprint(who, err)
	}))
	must(t, <-added)
	must(t, b.Router().Restart(t.Context()))
	must(t, b.Ready(t.Context()))
	if f := ask(t, b, 0, b.Servers()[0], 60); f.lost > 0 || len(f.nodes) != 3 {
		t.Errorf("after a reboot: %+v", f)
	}
}

// flows are sockets that stay open.
type flows []*net.UDPConn

// openFlows opens n flows to the first server.
func openFlows(t *testing.T, b bench.Bench, n int) flows {
	t.Helper()
	var all flows
	for range n {
		must(t, b.Network(0).Do(func() error {
			c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(b.Servers()[0]))
			all = append(all, c)
			return err
		}))
	}
	t.Cleanup(func() {
		for _, c := range all {
			_ = c.Close()
		}
	})
	return all
}

// ask asks once over every flow and returns who answered.
func (f flows) ask(t *testing.T) []string {
	t.Helper()
	var nodes []string
	for _, c := range f {
		node, err := over(c, "nas.lan.")
		must(t, err)
		nodes = append(nodes, node)
	}
	return nodes
}

// watch gathers the bench's events until it is asked for them.
func watch(t *testing.T, b bench.Bench) func() []result.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, err := b.Observe(ctx)
	must(t, err)
	all := make(chan []result.Event, 1)
	go func() {
		var list []result.Event
		for e := range events {
			list = append(list, e)
		}
		all <- list
	}()
	return func() []result.Event { cancel(); return <-all }
}

// checkEvents wants every lane's states of a node that was drained.
func checkEvents(t *testing.T, events []result.Event) {
	t.Helper()
	seen := map[string][]string{}
	for _, e := range events {
		seen[e.Lane] = append(seen[e.Lane], e.State)
	}
	for lane, states := range map[string][]string{
		netns.LaneRoutes: {"3 next hops", "2 next hops", "4 next hops"},
		"n1 stance":      {"announced", "depreferred", "withdrawn"},
		"n1 bgp":         {"UP"}, "n1 bfd": {"UP"}, "n2 bfd": {"DOWN"},
	} {
		for _, s := range states {
			if !slices.Contains(seen[lane], s) {
				t.Errorf("lane %q has %v, want %s in it", lane, seen[lane], s)
			}
		}
	}
}

// TestAnswers makes a node's resolver late, wrong and silent under questions
// that its cache can answer, over UDP: nothing is lost when it begins and ends.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b := raise(t, netns.Options{Design: netns.Baseline, Nodes: 2})
	ctx, n := t.Context(), b.Nodes()[0]
	const late = 300 * time.Millisecond
	for _, how := range []authority.Behaviour{
		{}, {Delay: late}, {Delay: late, Part: 0.5}, {Failure: authority.Drop, Over: authority.TCP}, {},
	} {
		must(t, n.Answers(ctx, how))
		start := time.Now()
		f := ask(t, b, 0, b.Servers()[0], 40)
		took := time.Since(start)
		if f.lost > 0 || f.nodes["n1"] != 40 || took < how.Delay || how.Delay == 0 && took > 10*late {
			t.Errorf("behaviour %+v: %+v in %v", how, f, took)
		}
	}
	must(t, n.Answers(ctx, authority.Behaviour{Failure: authority.Drop}))
	if f := ask(t, b, 0, b.Servers()[0], 3); f.lost != 3 {
		t.Errorf("a silent resolver answers %+v", f)
	}
}

// TestWire lays a cable under traffic, which loses nothing, and shapes it: all
// that the node sends is late, then nothing comes, until it is joined again.
func TestWire(t *testing.T) {
	t.Parallel()
	b := raise(t, netns.Options{Nodes: 2})
	ctx, n := t.Context(), b.Nodes()[0]
	laid := make(chan error)
	go func() { laid <- n.Wire(ctx, bench.Wire{}) }()
	for done := false; !done; {
		select {
		case err := <-laid:
			must(t, err)
			done = true
		default:
		}
		if f := ask(t, b, 0, b.Servers()[0], 50); f.lost > 0 {
			t.Errorf("while the cable is laid: %+v", f)
		}
	}
	const late = 100 * time.Millisecond
	must(t, n.Wire(ctx, bench.Wire{Delay: late}))
	start := time.Now()
	if f := ask(t, b, 0, netip.AddrPortFrom(n.Address(), 53), 1); f.lost > 0 || time.Since(start) < 2*late {
		t.Errorf("over a slow wire: %+v after %v", f, time.Since(start))
	}
	must(t, n.Wire(ctx, bench.Wire{Cut: true}))
	hops(t, b, "n2")
	must(t, n.Wire(ctx, bench.Wire{}))
	must(t, b.Ready(ctx))
}

// TestBaseline shows what the clients are given, and that nothing but the node
// that is asked answers.
func TestBaseline(t *testing.T) {
	t.Parallel()
	b := raise(t, netns.Options{Design: netns.Baseline})
	if got := b.Setup(); got.Agent != "none" || b.Nodes()[0].Agent() != nil || b.Relay() != nil {
		t.Errorf("the setup is %+v", got)
	}
	for i, s := range b.Servers() {
		n := b.Nodes()[i]
		if f := ask(t, b, 0, s, 5); f.nodes[n.Name()] != 5 || s.Addr() != n.Address() {
			t.Errorf("server %d, %v, answers %+v", i, s, f)
		}
	}
	must(t, b.Nodes()[0].Resolver().Stop(t.Context()))
	if f := ask(t, b, 0, b.Servers()[0], 2); f.lost != 2 {
		t.Errorf("a stopped resolver answers %+v", f)
	}
	if _, err := b.AddNode(t.Context()); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("a node more: %v", err)
	}
}

// TestRelay shows that the relay asks the first node, the next when that falls
// silent, its own resolver when all have, and the first one again.
func TestRelay(t *testing.T) {
	t.Parallel()
	b := raise(t, netns.Options{Design: netns.Relay})
	ctx, relay := t.Context(), b.Servers()[0]
	events := watch(t, b)
	must(t, b.Nodes()[0].Freeze(ctx))
	served(t, b, relay, "n2")
	must(t, b.Nodes()[1].Kill(ctx))
	must(t, b.Nodes()[2].Resolver().Kill(ctx))
	served(t, b, relay, "r1")
	must(t, b.Nodes()[0].Thaw(ctx))
	served(t, b, relay, "n1")
	must(t, b.Relay().Kill(ctx))
	if f := ask(t, b, 0, relay, 2); f.lost != 2 {
		t.Errorf("a dead relay answers %+v", f)
	}
	must(t, b.Relay().Start(ctx))
	served(t, b, relay, "n1")
	var down bool
	for _, e := range events() {
		down = down || e.Lane == "relay n1" && e.State == "DOWN"
	}
	if !down {
		t.Error("nobody told that the relay gave n1 up")
	}
}

// served waits until that host answers what nobody has cached.
func served(t *testing.T, b bench.Bench, at netip.AddrPort, want string) {
	t.Helper()
	if err := topology.Within(t.Context(), soon, want+" answers", func() (bool, string) {
		who, err := one(b.Network(0), at, fmt.Sprintf("%x.fresh.internet.example.", time.Now().UnixNano()))
		return who == want, fmt.Sprint(who, err)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestLastResorts freezes every node: each way to a last resort answers in
// their place, and steps back when one returns.
func TestLastResorts(t *testing.T) {
	for _, tt := range []struct{ way, router, by string }{
		{topology.Floating, topology.FRR, "resort"},
		{topology.Floating, topology.BIRD, "resort"},
		{topology.Policy, topology.FRR, "r1"},
		{topology.Redirect, topology.BIRD, "r1"},
	} {
		t.Run(tt.way+" "+tt.router, func(t *testing.T) {
			t.Parallel()
			b := raise(t, netns.Options{LastResort: tt.way, Router: tt.router, Nodes: 2, Tuned: true})
			if s := b.Settings(); !slices.Contains(s, "router: "+topology.ResortSettings[tt.way]) || b.Setup().LastResort != tt.way {
				t.Errorf("the settings are %q, the setup %+v", s, b.Setup())
			}
			served(t, b, b.Servers()[0], "n1")
			for _, n := range b.Nodes() {
				must(t, n.Freeze(t.Context()))
			}
			served(t, b, b.Servers()[0], tt.by)
			must(t, b.Nodes()[1].Thaw(t.Context()))
			served(t, b, b.Servers()[0], "n2")
			if f := ask(t, b, 0, b.Servers()[0], 50); f.nodes["n2"] != 50 {
				t.Errorf("with n2 back: %+v", f)
			}
		})
	}
}
