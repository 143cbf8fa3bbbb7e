package bgp

import (
	"strings"
	"testing"
	"time"
)

// The router freezes: the session is closed within the detection time, with
// words, and comes back with the router.
func TestFrozenRouter(t *testing.T) {
	for name, tt := range map[string]struct {
		peer   Peer
		frr    []string
		detect time.Duration
	}{
		"300 ms": {v4Peer().with(func(p *Peer) { p.BFD = &BFD{Interval: 300 * time.Millisecond} }), []string{"bfd profile slow"}, 900 * time.Millisecond},
		"50 ms":  {v4Peer().with(func(p *Peer) { p.BFD = &BFD{Interval: 50 * time.Millisecond} }), []string{"bfd profile fast"}, 150 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBFDLab(t, tt.peer, tt.frr...)
			if st := b.atRest(); st.BFD.Detection != tt.detect {
				t.Errorf("detection time %v, want %v", st.BFD.Detection, tt.detect)
			}
			began := b.freeze(b.router)
			st := b.s.says(0, "BFD went down: ")
			down := logTime(t, b.s.logs.lines("bgp session down")[len(b.s.logs.lines("bgp session down"))-1])
			if st.State == "ESTABLISHED" || len(st.Sent) != 0 || st.BFD.LocalDiag != "control detection time expired" {
				t.Errorf("unexpected state: %+v, %+v", st, st.BFD)
			}
			t.Logf("router frozen to session closed: %v (detection time %v)", down.Sub(began).Round(time.Millisecond), tt.detect)
			b.thaw(b.router)
			back := time.Now()
			b.atRest()
			t.Logf("router thawed to at rest: %v", (time.Since(back) - bfdUpWait).Round(time.Millisecond))
		})
	}
}

// The node freezes: the router takes its routes away within the detection
// time, and puts them back when the node moves again.
func TestFrozenNode(t *testing.T) {
	b := newBFDLab(t, v4Peer().with(func(p *Peer) { p.BFD = &BFD{Interval: 50 * time.Millisecond} }), "bfd profile fast")
	b.atRest()
	began := b.freeze(b.node)
	b.f.gone(service[0])
	t.Logf("node frozen to route gone: %v", time.Since(began).Round(time.Millisecond))
	b.thaw(b.node)
	b.atRest()
}

// The router restarts: BGP and BFD are back soon after it is.
func TestBFDRouterRestarts(t *testing.T) {
	for name, tt := range map[string]struct {
		peer Peer
		frr  []string
	}{
		"single hop": {withBFD(v4Peer()), []string{"bfd"}},
		"multihop": {withBFD(v4Peer().with(func(p *Peer) { p.TTLSecurity = true })),
			[]string{"bfd", "ttl-security hops 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBFDLab(t, tt.peer, tt.frr...)
			b.atRest()
			b.f.stopBFDd()
			b.f.stopBGPd()
			until(t, "down", func() bool { return b.s.peer(0).State != "ESTABLISHED" })
			b.f.bfdd()
			b.f.bgpd()
			until(t, "bgpd listens", func() bool { return strings.Contains(b.f.vtysh("show bgp summary"), "65000") })
			back := time.Now()
			b.f.installed(service[0], "10.1.1.11")
			t.Logf("router back to route in its kernel: %v", time.Since(back).Round(time.Millisecond))
			b.atRest()
			t.Logf("router back to at rest: %v", (time.Since(back) - bfdUpWait).Round(time.Millisecond))
		})
	}
}

// BFD is blocked from the start, or on the way: BGP lives, and the status says
// what may be the reason.
func TestBFDBlocked(t *testing.T) {
	b := newBFDLab(t, withBFD(v4Peer()), "bfd")
	b.atRest()
	b.block(b.node, "udp dport 3784")
	b.s.says(0, "BFD went down: nothing heard for the detection time")
	began := time.Now()
	until(t, "BGP without BFD", func() bool { return b.s.peer(0).State == "ESTABLISHED" })
	t.Logf("BGP went first after %v", time.Since(began).Round(time.Millisecond))
	b.f.installed(service[0], "10.1.1.11")
	var st PeerState
	until(t, "words", func() bool { st = b.s.peer(0); return st.BFD.Trouble != "" })
	t.Log(st.BFD.Trouble)
	b.unblock(b.node)
	b.atRest()
}

// The deciding goroutine hangs: BFD falls silent and the router lets go.
func TestNotAlive(t *testing.T) {
	b := newBFDLab(t, withBFD(v4Peer()), "bfd")
	b.atRest()
	b.s.do(order{Do: "alive", Text: "no"})
	b.f.gone(service[0])
	until(t, "packets withheld", func() bool { return b.s.peer(0).BFD.Withheld > 0 })
	b.s.do(order{Do: "alive", Text: "yes"})
	b.atRest()
}
