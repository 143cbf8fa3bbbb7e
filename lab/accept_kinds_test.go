package lab_test

import (
	"net/netip"
	"strings"
	"testing"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// The covering prefixes that the first node of TestKinds announces.
var (
	cover4 = netip.MustParsePrefix("10.9.9.0/24")
	cover6 = netip.MustParsePrefix("2001:db8:9::/64")
)

// kinds gives each node another way to hold and to announce: an iBGP session
// and covering prefixes; addresses on lo; a bridge that stays up.
func kinds(node int, c tree) {
	s := service(c, 0)
	switch node {
	case 0:
		c["bgp"].(tree)["asn"] = topology.RouterASN
		s["announce"] = []string{cover4.String(), cover6.String()}
	case 1:
		s["link"] = tree{"name": "lo", "kind": "existing"}
	case 2:
		s["link"] = tree{"name": topology.AgentLink, "kind": "bridge", "when_out": "keep"}
	}
}

// TestKinds has every node be announced, leave and come back in its own way,
// and stop without a trace, but for the link that is kept.
func TestKinds(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{WithoutAgent: true}, kinds)
	n1, n2, n3 := lab.Nodes[0], lab.Nodes[1], lab.Nodes[2]
	empty := map[*topology.Node]string{}
	for _, n := range lab.Nodes {
		empty[n] = box(t, n)
		must(t, n.Agent.Start())
	}
	t.Run("iBGP and covering prefixes", func(t *testing.T) {
		in := func() { hops(t, lab.Router, cover4, n1.V4); hops(t, lab.Router, cover6, n1.V6) }
		in()
		// No host route of this node; the others' are there.
		announced(t, lab, n2, n3)
		says(t, n1, "announced", func(s control.Service) bool {
			return s.Stance == "announced" && s.Addresses[0].Announced && s.Addresses[1].Announced
		})
		out, err := lab.Router.Show(t.Context(), "show bgp ipv4 unicast "+cover4.String())
		must(t, err)
		if !strings.Contains(out, "localpref 100") || !strings.Contains(out, "internal") {
			t.Errorf("unexpected route in FRR: %s", out)
		}
		// One address less, and the covering prefixes no longer hold.
		gone(t, n1, false, func() error { return n1.DeleteAddress(topology.AgentLink, anycast6) })
		in()
		must(t, n1.Resolver.Kill())
		hops(t, lab.Router, cover4)
		hops(t, lab.Router, cover6)
		must(t, n1.Resolver.Start())
		in()
	})
	t.Run("existing link", func(t *testing.T) {
		must(t, n2.Resolver.Kill())
		announced(t, lab, n3)
		says(t, n2, "addresses off lo", func(s control.Service) bool {
			return !s.Addresses[0].Present && !s.Addresses[1].Present && s.Link.Up
		})
		must(t, n2.Resolver.Start())
		announced(t, lab, n2, n3)
	})
	t.Run("kept bridge", func(t *testing.T) {
		before := box(t, n3)
		must(t, n3.Resolver.Kill())
		announced(t, lab, n2)
		reason(t, n3, "connection refused")
		if after := box(t, n3); after != before {
			t.Errorf("the box has changed from %s to %s", before, after)
		}
		must(t, n3.Resolver.Start())
		announced(t, lab, n2, n3)
	})
	t.Run("stop", func(t *testing.T) {
		kept := box(t, n3)
		for _, n := range lab.Nodes {
			stop(t, n)
		}
		leavesNothing(t, n1, empty[n1])
		leavesNothing(t, n2, empty[n2])
		if after := box(t, n3); after != kept {
			t.Errorf("stopped with a kept link, the box has changed from %s to %s", kept, after)
		}
	})
}

// stop ends a node's agent in order.
func stop(t testing.TB, n *topology.Node) {
	t.Helper()
	must(t, n.Agent.Signal(sigterm))
	ends(t, n, 0)
}
