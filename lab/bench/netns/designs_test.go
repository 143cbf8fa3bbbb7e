package netns_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/bench/benchtest"
	"recuse/lab/bench/netns"
	"recuse/lab/topology"
)

// TestBaseline shows what the clients are given, and that nothing but the node
// that is asked answers.
func TestBaseline(t *testing.T) {
	t.Parallel()
	b := benchtest.Raise(t, netns.Options{Design: netns.Baseline})
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

// TestZones takes a zone from one node, then the internet from all: who has
// what the fault takes in its cache answers it stale, and the home's own zone
// stays.
func TestZones(t *testing.T) {
	t.Parallel()
	const popular, other = "video.internet.example.", "mail.internet.example."
	b := benchtest.Raise(t, netns.Options{Design: netns.Baseline, Nodes: 2, ServeStale: true, MaxTTL: time.Second})
	ctx, n1, n2 := t.Context(), b.Servers()[0], b.Servers()[1]
	must(t, b.Zone(ctx, authority.LAN, authority.Behaviour{Failure: authority.ServFail}, b.Nodes()[0]))
	rcode(t, b, n1, "one.lan.", dns.RcodeServerFailure)
	rcode(t, b, n2, "one.lan.", dns.RcodeNameError)
	must(t, b.Zone(ctx, authority.LAN, authority.Behaviour{}, b.Nodes()[0]))
	rcode(t, b, n1, "two.lan.", dns.RcodeNameError)
	rcode(t, b, n1, popular, dns.RcodeSuccess)
	must(t, b.Router().Wide(ctx, true))
	before, err := b.Zones(ctx)
	must(t, err)
	must(t, topology.Within(ctx, soon, "an uncached name fail", func() (bool, string) {
		_, err := one(b.Network(0), n1, other)
		return err != nil, "it is answered"
	}))
	rcode(t, b, n1, popular, dns.RcodeSuccess)
	rcode(t, b, n1, "three.lan.", dns.RcodeNameError)
	after, err := b.Zones(ctx)
	must(t, err)
	if before[authority.Internet].Queries != after[authority.Internet].Queries || after[authority.LAN].Failed == 0 {
		t.Errorf("the authority saw %+v, then %+v", before, after)
	}
	must(t, b.Router().Wide(ctx, false))
	must(t, topology.Within(ctx, soon, "an uncached name work", func() (bool, string) {
		_, err := one(b.Network(0), n1, other)
		return err == nil, fmt.Sprint(err)
	}))
	dir := t.TempDir()
	must(t, b.Logs(dir))
	for _, file := range []string{"n1/unbound.conf", "n1/unbound.log", "r1/frr.conf", "wan/authority.log"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// TestRelay shows that the relay asks the first node, the next when that falls
// silent, its own resolver when all have, and the first one again.
func TestRelay(t *testing.T) {
	t.Parallel()
	b := benchtest.Raise(t, netns.Options{Design: netns.Relay})
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
			b := benchtest.Raise(t, netns.Options{LastResort: tt.way, Router: tt.router, Nodes: 2, Tuned: true})
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
