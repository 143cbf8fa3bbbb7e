package lab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// TestOneWayBFD drops BFD's packets one way of a session that is up. The end
// that hears nothing says so to the other (RFC 5880 section 6.8.4), so both end
// BGP, whichever way is cut. Then BGP comes up without BFD, as it does where BFD
// has never been (TestBlockedBFD), and status says why; mended, BFD is back and
// BGP does not notice.
func TestOneWayBFD(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := guarded(t, topology.Options{Router: router}, nil)
		n := lab.Nodes[0]
		for _, part := range []struct {
			name string
			deaf *topology.Host
			says string // of the last word before BFD went down
		}{
			{"from the router", n.Host, "detection time"},
			{"from the node", lab.Router.Host, "the peer says that it is down"},
		} {
			t.Run(part.name, func(t *testing.T) { oneWay(t, lab, part.deaf, part.says) })
		}
	})
}

// oneWay makes a host deaf to BFD, and later lets it hear again.
func oneWay(t *testing.T, lab *topology.Lab, deaf *topology.Host, why string) {
	n := lab.Nodes[0]
	announced(t, lab, lab.Nodes...)
	before, seen := beside(t, n, "up", func(p control.Peer) bool { return p.BFD.State == "UP" }), watch(t, lab)
	cut := time.Now()
	rules(t, deaf, "udp dport 3784 drop")
	gone := moved(t, seen, n, false, cut)
	p := beside(t, n, "that BFD went down, and BGP with it", func(p control.Peer) bool {
		return p.BFD.State != "UP" && !(p.State == "ESTABLISHED" && p.Since.Equal(before.Since))
	})
	last := p.BFD.Transitions[len(p.BFD.Transitions)-1]
	t.Logf("next hop gone after %v; %s to %s: %q; status: %q; %q", gone, last.From, last.To, last.Reason, p.Error, p.BFD.Error)
	p = beside(t, n, "established without BFD, and why", func(p control.Peer) bool {
		return p.State == "ESTABLISHED" && p.BFD.Error != ""
	})
	t.Logf("status: %q; %q, %+v", p.Error, p.BFD.Error, p.BFD.Transitions)
	if !strings.Contains(fmt.Sprint(p.BFD.Transitions), why) {
		t.Errorf("no transition of BFD says %q: %+v", why, p.BFD.Transitions)
	}
	onlyRouted(t, lab, lab.Nodes...)
	unruled(t, deaf)
	announced(t, lab, lab.Nodes...)
	serves(t, lab, n)
}
