package topology_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// announceWithin bounds a start: the checks, a session, a router; more than ten
// times what it takes.
const announceWithin = 60 * time.Second

// quick lets a node come up after one pass of its check; when it leaves is not
// touched.
func quick(_ int, config map[string]any) {
	service := config["services"].([]any)[0].(map[string]any)
	service["checks"].([]any)[0].(map[string]any)["rise"] = 1
}

// TestRecuse runs the product in the lab, behind each router and on what the
// product writes for it: three nodes are next hops over both families, one
// whose resolver is killed leaves at once and comes back when it is started.
func TestRecuse(t *testing.T) {
	t.Parallel()
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			lab := labtest.Start(t, topology.Options{Router: router, Configure: quick})
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
			// service-path may be first to know; then the check itself follows.
			if err := topology.Within(ctx, soon, "a dead service in status", func() (bool, string) {
				s, err := out.Status(ctx)
				if err != nil || len(s.Services) != 1 {
					return false, fmt.Sprint(s.Raw, err)
				}
				return s.Services[0].Stance == "withdrawn" && s.Services[0].Level == "dead", s.Raw
			}); err != nil {
				t.Error(err)
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
func leaving(t testing.TB, lab *topology.Lab, n *topology.Node, act func() error) time.Duration {
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

// TestRecuseTwoRouters has two routers whose sessions bear a password and GTSM.
// Each is configured from its own sessions, both get every node; when the first
// falls silent the second serves on.
func TestRecuseTwoRouters(t *testing.T) {
	t.Parallel()
	lab := labtest.Start(t, topology.Options{
		Routers: 2, Nodes: 2, Password: "s3cret", TTLSecurity: true, HoldTime: 3 * time.Second, Configure: quick,
	})
	ctx := t.Context()
	if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
		t.Fatal(err)
	}
	if err := lab.Routers[0].Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := lab.SetGateway(lab.Routers[1]); err != nil {
		t.Fatal(err)
	}
	for _, p := range topology.DefaultAddresses() {
		f := spread(t, lab, p.Addr(), soon)
		if f.Lost != 0 || f.Nodes["n1"] == 0 || f.Nodes["n2"] == 0 {
			t.Errorf("through the second router to %s: %+v", p, f)
		}
	}
	if err := lab.Routers[0].Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
		t.Error(err)
	}
}

// TestRecuseRouterRestarts restarts the router and takes a node off its
// network: what comes back is announced again, what is silent for the hold time
// is not.
func TestRecuseRouterRestarts(t *testing.T) {
	t.Parallel()
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			t.Parallel()
			lab := labtest.Start(t, topology.Options{
				Router: router, Nodes: 2, HoldTime: 3 * time.Second, Configure: quick,
			})
			ctx := t.Context()
			if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
				t.Fatal(err)
			}
			if err := lab.Router.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := lab.WaitAnnounced(ctx, announceWithin); err != nil {
				t.Fatal(err) // the stopped router kept routes
			}
			start := time.Now()
			if err := lab.Router.Start(ctx); err != nil {
				t.Fatal(err)
			}
			if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
				t.Fatal(err)
			}
			t.Logf("router back to all next hops: %v", time.Since(start))
			took := leaving(t, lab, lab.Nodes[0], lab.Nodes[0].Freeze)
			t.Logf("frozen to next hop gone: %v", took)
			if err := lab.Nodes[0].Thaw(); err != nil {
				t.Fatal(err)
			}
			if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
				t.Error(err)
			}
		})
	}
}
