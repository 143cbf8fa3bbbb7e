package lab_test

import (
	"net"
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
		list := gone(t, n, p.Addr().Is6(), func() error { return n.DeleteAddress(topology.AgentLink, p) })
		for _, m := range list {
			if m.Kind != "keepalive" && m.Six != p.Addr().Is6() {
				t.Errorf("%s deleted, and the node sent %+v", p, m)
			}
		}
		announced(t, lab, lab.Nodes...)
	}
}

// linkDeleted deletes the link: the routes go, and come back with a new one.
func linkDeleted(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[2]
	list := gone(t, n, false, func() error { return n.DeleteLink(topology.AgentLink) })
	if count(list, "withdraw") != 2 {
		t.Errorf("not both families withdrawn: %+v", list)
	}
	announced(t, lab, lab.Nodes...)
}

// gone makes a fault that the agent mends: on the wire the family's route is
// withdrawn, and announced again in time. The router may be told of both at
// once, and then never notices. It returns all that was sent meanwhile.
func gone(t *testing.T, n *topology.Node, six bool, fault func() error) []message {
	t.Helper()
	w := capture(t, n)
	start := time.Now()
	must(t, fault())
	var out, back time.Time
	list := w.sent(func(list []message) bool {
		out, back = time.Time{}, time.Time{}
		for _, m := range list {
			switch {
			case m.Six != six:
			case m.Kind == "withdraw" && out.IsZero():
				out = m.At
			case m.Kind == "announce" && !out.IsZero():
				back = m.At
			}
		}
		return !back.IsZero()
	})
	t.Logf("withdrawn after %v, announced again after %v", out.Sub(start).Round(time.Millisecond),
		back.Sub(start).Round(time.Millisecond))
	if back.Sub(start) > putBack {
		t.Errorf("back after %v", back.Sub(start))
	}
	return list
}
