package netns_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/bench/benchtest"
	"recuse/lab/bench/netns"
	"recuse/lab/topology"
)

// TestResilient adds a node under flows that keep their ports: none of them
// moves, and new ones find the new node. The router's reboot makes the groups
// anew.
func TestResilient(t *testing.T) {
	t.Parallel()
	b := benchtest.Raise(t, netns.Options{Nodes: 2, Resilient: true})
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

// TestAnswers makes a node's resolver late, wrong and silent under questions
// that its cache can answer, over UDP: nothing is lost when it begins and ends.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b := benchtest.Raise(t, netns.Options{Design: netns.Baseline, Nodes: 2})
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
	b := benchtest.Raise(t, netns.Options{Nodes: 2})
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
