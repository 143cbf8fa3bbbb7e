package topology_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestWatch changes routes under a watch: each state is told once it is there,
// in order, for both families, and the watch ends with its context.
func TestWatch(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 2})
	for _, p := range topology.DefaultAddresses() {
		ctx, cancel := context.WithCancel(t.Context())
		events, err := lab.Router.Watch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		route(t, lab, p, lab.Nodes)
		until(t, events, before, p, hops(lab.Nodes, p))
		route(t, lab, p, lab.Nodes[:1])
		until(t, events, before, p, hops(lab.Nodes[:1], p))
		if _, err := lab.Router.Run(ctx, "ip", "route", "del", p.String()); err != nil {
			t.Fatal(err)
		}
		until(t, events, before, p, nil)
		cancel()
		ended := make(chan struct{})
		go func() {
			for range events {
				continue
			}
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(soon):
			t.Fatal("the watch did not end with its context")
		}
	}
}

// until reads events until the prefix has these next hops.
func until(t *testing.T, events <-chan topology.RouteEvent, since time.Time, p netip.Prefix, want []netip.Addr) {
	t.Helper()
	deadline := time.After(soon)
	var last topology.RouteEvent
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the watch ended")
			}
			last = e
			if e.Prefix == p && slices.Equal(e.NextHops, want) {
				if d := e.At.Sub(since); d < 0 || d > soon {
					t.Errorf("event %v after the change", d)
				}
				return
			}
		case <-deadline:
			t.Fatalf("no event with %s via %v; the last was %+v", p, want, last)
		}
	}
}

// hops are the nodes' addresses of the prefix's family.
func hops(nodes []*topology.Node, p netip.Prefix) []netip.Addr {
	var list []netip.Addr
	for _, n := range nodes {
		if p.Addr().Is6() {
			list = append(list, n.V6)
		} else {
			list = append(list, n.V4)
		}
	}
	return list
}

// TestHostLinks changes addresses and links of a node by hand.
func TestHostLinks(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 1})
	ctx, n := t.Context(), lab.Nodes[0]
	extra := netip.MustParsePrefix("192.0.2.1/32")
	addresses := func() string {
		out, err := n.Run(ctx, "ip", "-o", "address", "show")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := n.AddAddress("lan0", extra); err != nil {
		t.Fatal(err)
	}
	if got := addresses(); !strings.Contains(got, "192.0.2.1/32") {
		t.Errorf("no added address in:\n%s", got)
	}
	if err := n.DeleteAddress("lan0", extra); err != nil {
		t.Fatal(err)
	}
	if got := addresses(); strings.Contains(got, "192.0.2.1/32") {
		t.Errorf("a deleted address in:\n%s", got)
	}
	if err := n.LinkDown("lan0"); err != nil {
		t.Fatal(err)
	}
	silent(t, lab.Client.Host, n.V4)
	if err := n.DeleteLink("lan0"); err != nil {
		t.Fatal(err)
	}
	if err := n.LinkUp("lan0"); err == nil || !strings.Contains(err.Error(), "lan0 of n1") {
		t.Errorf("error %v, want one that names lan0 of n1", err)
	}
}

// TestRun shows what comes of commands on hosts: their output, or an error that
// holds it.
func TestRun(t *testing.T) {
	lab := labtest.StartBare(t, topology.Options{Nodes: 1, WithoutResolver: true})
	ctx := t.Context()
	if out, err := lab.Client.Run(ctx, "echo", "hello"); out != "hello\n" || err != nil {
		t.Errorf("echo says %q, %v", out, err)
	}
	_, err := lab.Client.Run(ctx, "sh", "-c", "echo oh no; exit 3")
	for _, want := range []string{"on client", "oh no", "exit status 3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := lab.Client.Run(ctx, "/no/such/program"); err == nil {
		t.Error("a program that does not exist runs")
	}
	if _, err := lab.Nodes[0].Status(ctx); err == nil {
		t.Error("a node without an agent has a status")
	}
	if out := lab.Logs(); !strings.Contains(out, "--- r1 bgpd\n") || strings.Contains(out, "unbound") {
		t.Errorf("unexpected logs:\n%s", out)
	}
}

// TestRouterConfig shows that a lab's router is given what RouterConfig makes
// of the files, one router its own sessions only, and that what a router
// refuses is an error with its words.
func TestRouterConfig(t *testing.T) {
	labtest.Require(t, topology.FRR)
	var given []string
	o := topology.Options{
		Nodes: 2, Routers: 2, WithoutResolver: true,
		RouterConfig: func(router string, configs []string) (string, error) {
			given = append(given, configs...)
			return "router bgp 65000\n no such word\n", nil
		},
	}
	o.Authority = []string{labtest.Build(t) + "/recuse-authority"}
	_, err := topology.New(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "no such word") {
		t.Errorf("error %v, want one with the refused line", err)
	}
	if d := cmp.Diff(2, len(given)); d != "" {
		t.Errorf("unexpected number of files for the first router (-want +got):\n%s", d)
	}
	leftNothing(t, "")
}
