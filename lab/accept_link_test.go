package lab_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// netUDP53 is where a stand-in for a resolver listens.
var netUDP53 = net.UDPAddr{Port: 53}

// linkDownByHand sets the link down as an operator would: the node leaves,
// says so, and does not fight until the link is up again.
func linkDownByHand(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	must(t, n.LinkDown(topology.AgentLink))
	announced(t, lab, others(lab, n)...)
	says(t, n, "held", func(s control.Service) bool {
		return s.Stance == "withdrawn" && s.Level == "ok" && !s.Link.Up && strings.Contains(s.Reason, "by hand")
	})
	never(t, lab.Router, anycast4, func() {
		lasts(t, 1500*time.Millisecond, "the link left down", func() (bool, string) {
			_, out := program(t, n, "ip", "-o", "link", "show", topology.AgentLink)
			return !strings.Contains(out, ",UP"), out
		})
	})
	must(t, n.LinkUp(topology.AgentLink))
	announced(t, lab, lab.Nodes...)
}

// putBack bounds the time until what was deleted is announced again: 1 s by
// design to put it back, and a first answer on it; tenfold for a busy box.
const putBack = 10 * time.Second

// addressDeleted deletes one address: its route goes at once and comes back
// with it, the other family's stays.
func addressDeleted(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	for _, p := range topology.DefaultAddresses() {
		other, own := anycast4, n.V6
		if p == anycast4 {
			other, own = anycast6, n.V4
		}
		never(t, lab.Router, other, func() {
			start := gone(t, lab, p, own, func() error { return n.DeleteAddress(topology.AgentLink, p) })
			announced(t, lab, lab.Nodes...)
			if d := time.Since(start); d > putBack {
				t.Errorf("%s back after %v", p, d)
			} else {
				t.Logf("%s deleted: back in the router's kernel after %v", p, d.Round(time.Millisecond))
			}
		})
	}
}

// linkDeleted deletes the link: both routes go, and come back with a new one.
func linkDeleted(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[2]
	start := gone(t, lab, anycast4, n.V4, func() error { return n.DeleteLink(topology.AgentLink) })
	announced(t, lab, lab.Nodes...)
	if d := time.Since(start); d > putBack {
		t.Errorf("back after %v", d)
	} else {
		t.Logf("link deleted: back in the router's kernel after %v", d.Round(time.Millisecond))
	}
}

// gone makes a fault and waits until the router's kernel, at some moment, was
// without that next hop, however soon it is back. It returns when the fault
// was made.
func gone(t *testing.T, lab *topology.Lab, p netip.Prefix, hop netip.Addr, fault func() error) time.Time {
	t.Helper()
	events, err := lab.Router.Watch(t.Context())
	must(t, err)
	start := time.Now()
	must(t, fault())
	after(t, events, p, hop, false)
	return start
}
