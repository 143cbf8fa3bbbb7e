package netns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"recuse/lab/bench"
	"recuse/lab/bench/benchtest"
	"recuse/lab/bench/netns"
	"recuse/lab/topology"
)

// bareFRR is FRR on every node that announces whatever becomes of the resolver.
type bareFRR struct{}

// Name is its name in a report.
func (bareFRR) Name() string { return "bare-frr" }

// Settings and Versions have nothing to tell.
func (bareFRR) Settings() []string                         { return []string{"bare-frr: as it is"} }
func (bareFRR) Versions(context.Context) map[string]string { return map[string]string{"bare": "1"} }

// Install has the node hold the service addresses and FRR announce them.
func (bareFRR) Install(_ context.Context, n *topology.Node) ([]*topology.Process, error) {
	var four, six strings.Builder
	for _, p := range n.Addresses {
		b := &four
		if p.Addr().Is6() {
			b = &six
		}
		fmt.Fprintf(b, "  network %s\n", p)
	}
	processes, err := n.InstallFRR(fmt.Sprintf("bfd\nexit\nrouter bgp %d\n no bgp ebgp-requires-policy\n"+
		" neighbor %s remote-as %d\n neighbor %[2]s bfd\n address-family ipv4 unicast\n%[4]s exit-address-family\n"+
		" address-family ipv6 unicast\n  neighbor %[2]s activate\n%[5]s exit-address-family\nexit\n",
		n.ASN, n.Gateways[0], topology.RouterASN, &four, &six))
	return processes, errors.Join(err, n.Hold("svc0"))
}

// RouterConfig takes the nodes' routes.
func (bareFRR) RouterConfig(_ context.Context, _ *topology.Router, nodes []*topology.Node) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%sbfd\nexit\nrouter bgp %d\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n",
		topology.Bare(topology.FRR), topology.RouterASN)
	for _, n := range nodes {
		fmt.Fprintf(&b, " neighbor %s remote-as %d\n neighbor %[1]s bfd\n neighbor %[1]s timers connect 1\n", n.V4, n.ASN)
	}
	b.WriteString(" address-family ipv6 unicast\n")
	for _, n := range nodes {
		fmt.Fprintf(&b, "  neighbor %s activate\n", n.V4)
	}
	b.WriteString(" exit-address-family\nexit\n")
	return b.String(), nil
}

// TestOtherAgent has another agent in recuse's place: it is killed and started
// as one, what it does is seen at the router, and what only recuse can is said
// to be impossible.
func TestOtherAgent(t *testing.T) {
	t.Parallel()
	b := benchtest.Raise(t, netns.Options{Agent: bareFRR{}, Nodes: 2})
	ctx, n := t.Context(), b.Nodes()[0]
	if got := b.Setup().Agent; got != "bare-frr" || !slices.Contains(b.Settings(), "bare-frr: as it is") || b.Versions(ctx)["bare"] != "1" {
		t.Errorf("agent %q, settings %q, versions %v", got, b.Settings(), b.Versions(ctx))
	}
	if err := n.Drain(ctx); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("drain: %v", err)
	}
	events := watch(t, b)
	must(t, n.Agent().Kill(ctx))
	if n.Agent().Running() {
		t.Error("a killed agent runs")
	}
	hops(t, b, "n2")
	must(t, n.Agent().Start(ctx))
	must(t, b.Ready(ctx))
	states := map[string][]string{}
	for _, e := range events() {
		states[e.Lane] = append(states[e.Lane], e.State)
	}
	for lane, want := range map[string][]string{
		"n1 bgp": {"UP", "DOWN", "UP"}, "n1 bfd": {"UP", "DOWN", "UP"}, "n2 bgp": {"UP"},
		netns.LaneRoutes: {"2 next hops", "1 next hop", "2 next hops"},
	} {
		if !contains(states[lane], want) {
			t.Errorf("lane %q has %v, want %v in it in that order", lane, states[lane], want)
		}
	}
}

// contains reports whether all of want come in that order.
func contains(got, want []string) bool {
	for _, s := range got {
		if len(want) > 0 && s == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}
