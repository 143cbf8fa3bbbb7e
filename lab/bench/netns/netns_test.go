package netns_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"recuse/lab/bench"
	"recuse/lab/bench/benchtest"
	"recuse/lab/bench/netns"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// The tests of this package need root and the routers; see labtest.Require.

// soon bounds what a test waits for on a busy box.
const soon = 30 * time.Second

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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
	b := benchtest.Raise(t, netns.Options{Clients: 3})
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

	must(t, n1.Upgrade(ctx))
	must(t, b.Ready(ctx))
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
