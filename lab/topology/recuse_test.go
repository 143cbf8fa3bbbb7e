package topology_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// announceWithin bounds a start: five passes a second apart, a session, a
// router; some ten times what it takes.
const announceWithin = 60 * time.Second

// TestRecuse runs the product in the lab, behind each router and on what the
// product writes for it: three nodes are next hops over both families, one
// whose resolver is killed leaves at once and comes back when it is started.
func TestRecuse(t *testing.T) {
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			start := time.Now()
			lab := labtest.Start(t, topology.Options{Router: router})
			up := time.Since(start)
			ctx := t.Context()
			if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
				t.Fatal(err)
			}
			t.Logf("lab up in %v, all announced after %v", up, time.Since(start))
			out := lab.Nodes[1]
			took := leaving(t, lab, out, func() error { return out.Resolver.Kill() })
			t.Logf("killed to next hop gone: %v", took)
			if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes[0], lab.Nodes[2]); err != nil {
				t.Error(err)
			}
			status, err := out.Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(status.Services) != 1 || status.Services[0].Stance != "withdrawn" || status.Services[0].Level != "dead" {
				t.Errorf("unexpected status: %s", status.Raw)
			}
			if err := out.Resolver.Start(); err != nil {
				t.Fatal(err)
			}
			if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
				t.Error(err)
			}
		})
	}
}

// leaving does something to a node and returns how long its IPv4 next hop then
// stayed in the router's kernel.
func leaving(t *testing.T, lab *topology.Lab, n *topology.Node, act func() error) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), announceWithin)
	defer cancel()
	events, err := lab.Router.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := act(); err != nil {
		t.Fatal(err)
	}
	service := topology.DefaultAddresses()[0]
	for e := range events {
		if e.Prefix == service && !slices.Contains(e.NextHops, n.V4) {
			return e.At.Sub(start)
		}
	}
	t.Fatalf("the next hop of %s stayed", n.ShortName)
	return 0
}
