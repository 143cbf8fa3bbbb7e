package lab_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/topology"
)

// TestPartial has the others be seen by one router only, or in one family only:
// a node that would leave stays second choice, so that nobody is left without a
// route, and leaves when the others are seen everywhere.
func TestPartial(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := network(t, topology.Options{Router: router, Nodes: 2, Routers: 2, HoldTime: 3 * time.Second}, nil)
		settled(t, lab)
		t.Run("a session lost", func(t *testing.T) { sessionLost(t, lab) })
		serving(t, lab)
		t.Run("IPv6 lost", func(t *testing.T) { sixLost(t, lab) })
	})
}

// TestSideCheckGone has DNS over TLS be gone on every node: that is sick and
// not dead, so plain DNS stays, on every node.
func TestSideCheckGone(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 2}, func(_ int, c tree) {
		s := service(c, 0)
		s["checks"] = append(s["checks"].([]any), tree{"name": "dot", "interval": "200ms", "rise": 2,
			"tcp": tree{"address": "127.0.0.1:853"}})
	})
	// It is so from the start, and nobody serves: a poor answer beats none.
	stance(t, "depreferred", lab.Nodes...)
	announced(t, lab, lab.Nodes...)
	client := asking(t, lab, 100)
	covered(t, lab, func() {
		for _, n := range lab.Nodes {
			stays(t, n)
			says(t, n, "what is wrong", func(s control.Service) bool {
				return s.Level == "sick" && strings.Contains(s.Reason, "dot")
			})
		}
		announced(t, lab, lab.Nodes...)
	})
	lossless(t, client, 300)
}

// stays looks that a node is second choice for longer than it would wait.
func stays(t *testing.T, n *topology.Node) {
	t.Helper()
	lasts(t, 3*time.Second, "second choice", func() (bool, string) {
		st, err := glance(t, n)
		must(t, err)
		return st.Services[0].Stance == "depreferred", fmt.Sprintf("%+v", st.Services[0])
	})
}

// sessionLost cuts the second node off from the first router only.
func sessionLost(t *testing.T, lab *topology.Lab) {
	n1, n2, r1, r2 := lab.Nodes[0], lab.Nodes[1], lab.Routers[0], lab.Routers[1]
	cut := func(commands ...string) {
		for _, c := range commands {
			if code, out := program(t, n2, strings.Fields("nft "+c)...); code != 0 {
				t.Fatalf("nft %s: %s", c, out)
			}
		}
	}
	cut("add table ip lab", "add chain ip lab out { type filter hook output priority 0 ; }",
		"add rule ip lab out ip daddr 10.60.0.1 tcp dport 179 drop")
	hopsOf(t, r1, anycast4, n1)
	client := askingFor(t, lab, 200, internet()) // by the first router
	covered(t, lab, func() {
		fails(t, lab, authority.ServFail, n1)
		hopsOf(t, r2, anycast4, n2)
		hopsOf(t, r2, anycast6, n2)
		stance(t, "depreferred", n1)
		stays(t, n1)
		hopsOf(t, r1, anycast4, n1)
		hopsOf(t, r1, anycast6, n1)
		cut("delete table ip lab")
		start := time.Now()
		stance(t, "withdrawn", n1)
		t.Logf("left %v after the session could come back", time.Since(start).Round(time.Millisecond))
		announced(t, lab, n2)
		fails(t, lab, authority.None, n1)
		serving(t, lab)
	})
	lossless(t, client, 800)
}

// sixLost takes the second node's IPv6 address away, so that it cannot announce
// that family.
func sixLost(t *testing.T, lab *topology.Lab) {
	n1, n2 := lab.Nodes[0], lab.Nodes[1]
	uplink := netip.PrefixFrom(n2.V6, 64)
	must(t, n2.DeleteAddress("lan0", uplink))
	for _, r := range lab.Routers {
		hopsOf(t, r, anycast6, n1)
	}
	// Names that the resolvers have: for others the second one's would first
	// wait for the authority's IPv6 address, which it cannot reach.
	client := askingFor(t, lab, 200, authority.Popular())
	covered(t, lab, func() {
		fails(t, lab, authority.ServFail, n1)
		for _, r := range lab.Routers {
			hopsOf(t, r, anycast4, n2)
		}
		stance(t, "depreferred", n1)
		stays(t, n1)
		for _, r := range lab.Routers {
			hopsOf(t, r, anycast6, n1)
		}
		says(t, n1, "whom it does not see", func(s control.Service) bool { return s.OthersKnown != "seen" })
		must(t, n2.AddAddress("lan0", uplink))
		must(t, lab.SetGateway(lab.Router)) // it went with the address
		announced(t, lab, n2)
		stance(t, "withdrawn", n1)
		fails(t, lab, authority.None, n1)
		serving(t, lab)
	})
	lossless(t, client, 600)
}
