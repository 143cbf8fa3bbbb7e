package bgp

import (
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bfdUpWait is how long a session that is up must last to count as at rest.
const bfdUpWait = 1500 * time.Millisecond

// bfdLab is a node's speaker with BFD, and FRR with bfdd. It is at rest.
type bfdLab struct {
	*lab
	f            *frr
	s            *helper
	node, router string
	conf         Config
}

// newBFDLab starts it; extra are settings of FRR's neighbour.
func newBFDLab(t *testing.T, peer Peer, extra ...string) bfdLab {
	t.Helper()
	l := newLab(t, frrLib+"bgpd", "vtysh", "nft")
	node, router := l.pair()
	addr := "10.1.1.11"
	if peer.Address.Is6() {
		addr = "2001:db8:1::11"
	}
	f := l.frrBFD(router, frrNeighbour(addr, 65011, extra...))
	b := bfdLab{lab: l, f: f, node: node, router: router, conf: nodeConfig(peer)}
	b.s = l.speaker(node, b.conf)
	b.s.set(routes(service...))
	return b
}

// atRest waits until BGP and BFD have been up for a while.
func (b bfdLab) atRest() PeerState {
	b.t.Helper()
	var st PeerState
	until(b.t, "BGP and BFD at rest", func() bool {
		st = b.s.peer(0)
		return st.State == "ESTABLISHED" && st.BFD != nil && st.BFD.State == "UP" &&
			time.Since(st.Since) > bfdUpWait && time.Since(st.BFD.Since) > bfdUpWait
	})
	b.f.installed(service[0], "10.1.1.11")
	return st
}

// withBFD is p with the default BFD.
func withBFD(p Peer) Peer {
	p.BFD = &BFD{}
	return p
}

// signal sends a signal to every process of a namespace.
func (l *lab) signal(ns, name string) {
	l.t.Helper()
	for _, pid := range strings.Fields(l.must("ip", "netns", "pids", ns)) {
		if _, err := strconv.Atoi(pid); err != nil {
			l.t.Fatalf("no pid: %s", pid)
		}
		l.must("kill", "-"+name, pid)
	}
}

// nft runs nft in a namespace.
func (l *lab) nft(ns string, rule ...string) {
	l.t.Helper()
	l.must(append([]string{"ip", "netns", "exec", ns, "nft"}, rule...)...)
}

// block makes a namespace drop packets that come in: all, or those of a rule.
func (l *lab) block(ns, rule string) {
	l.t.Helper()
	l.nft(ns, "add table inet block; add chain inet block in { type filter hook input priority 0; };"+
		" add rule inet block in "+rule+" drop")
}

// unblock ends it.
func (l *lab) unblock(ns string) { l.t.Helper(); l.nft(ns, "delete table inet block") }

// freeze stops every process of a namespace, which hears nothing and says
// nothing from then on, its kernel included.
func (l *lab) freeze(ns string) time.Time {
	l.t.Helper()
	l.signal(ns, "STOP")
	l.t.Cleanup(func() { _ = exec.Command("ip", "netns", "exec", ns, "nft", "delete table inet frozen").Run() })
	l.nft(ns, "add table inet frozen; add chain inet frozen in { type filter hook input priority 0; policy drop; };"+
		" add chain inet frozen out { type filter hook output priority 0; policy drop; }")
	return time.Now()
}

// thaw ends it.
func (l *lab) thaw(ns string) {
	l.t.Helper()
	l.nft(ns, "delete table inet frozen")
	l.signal(ns, "CONT")
}

// BGP and BFD come up beside FRR in every kind of session. FRR 8.4 makes its
// BFD anew at its first Established, which costs one session; the next one
// stays.
func TestFRRBFD(t *testing.T) {
	gtsm := func(p *Peer) { p.TTLSecurity = true }
	tests := []struct {
		name     string
		peer     Peer
		frr      []string
		multihop bool
	}{
		{"IPv4", v4Peer(), []string{"bfd"}, false},
		{"IPv6", v6Peer(), []string{"bfd"}, false},
		{"GTSM, which FRR makes multihop", v4Peer().with(gtsm), []string{"bfd", "ttl-security hops 1"}, true},
		{"GTSM and an interface", v4Peer().with(gtsm).with(func(p *Peer) { p.Interface = "e0" }), []string{"bfd", "ttl-security hops 1"}, true},
		{"GTSM on IPv6", v6Peer().with(gtsm), []string{"bfd", "ttl-security hops 1"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBFDLab(t, withBFD(tt.peer), tt.frr...)
			st := b.atRest()
			if st.BFD.Multihop != tt.multihop || st.BFD.Detection != 900*time.Millisecond || st.LastError != "" || st.BFD.Trouble != "" {
				t.Errorf("unexpected state: %+v, %+v", st, st.BFD)
			}
			if st.BFD.Sent == 0 || st.BFD.Received == 0 || len(st.BFD.Transitions) == 0 || !strings.HasPrefix(st.BFD.Scheduling, "SCHED_") {
				t.Errorf("status lacks something: %+v", st.BFD)
			}
			if downs := b.s.logs.lines("bgp session down"); len(downs) > 1 {
				t.Errorf("more than one session was lost: %q", downs)
			}
		})
	}
}

// BFD is up before the first BGP session, so FRR 8.4 makes its BFD anew at
// Established and ends that session. The next one comes soon, and stays.
func TestFRRMakesBFDAnew(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh", "nft")
	node, router := l.pair()
	l.block(router, "tcp dport 179")
	f := l.frrBFD(router, frrNeighbour("10.1.1.11", 65011, "bfd"))
	b := bfdLab{lab: l, f: f, s: l.speaker(node, nodeConfig(withBFD(v4Peer())))}
	b.s.set(routes(service...))
	until(t, "BFD up", func() bool { return b.s.peer(0).BFD.State == "UP" })
	l.unblock(router)
	lost := func() []string { // while it comes up or just after, as we or FRR see it first
		return append(b.s.logs.lines("BFD went down"), b.s.logs.lines("cease: BFD down")...)
	}
	until(t, "a session lost", func() bool { return len(lost()) > 0 })
	b.atRest()
	ups := b.s.logs.lines("bgp session established")
	if n := len(lost()); n != 1 {
		t.Fatalf("%d sessions lost: %q", n, lost())
	}
	gap := logTime(t, ups[len(ups)-1]).Sub(logTime(t, lost()[0]))
	t.Logf("lost to established again: %v", gap.Round(time.Millisecond))
	if gap > 10*time.Second {
		t.Errorf("it took %v", gap)
	}
}

// logTime is the time of a log line.
func logTime(t *testing.T, line string) time.Time {
	t.Helper()
	text, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// A peer two hops away has multihop BFD.
func TestFRRBFDMultihop(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, middle, router := l.ns("n"), l.ns("m"), l.ns("r")
	l.join(node, middle, "e0")
	l.join(middle, router, "e1")
	l.addr(node, "e0", "10.1.1.11/24")
	l.addr(middle, "e0", "10.1.1.1/24")
	l.addr(middle, "e1", "10.2.1.1/24")
	l.addr(router, "e1", "10.2.1.2/24")
	l.must("ip", "netns", "exec", middle, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	l.must("ip", "-n", node, "route", "add", "default", "via", "10.1.1.1")
	l.must("ip", "-n", router, "route", "add", "10.1.1.0/24", "via", "10.2.1.1")
	f := l.frrBFD(router, frrNeighbour("10.1.1.11", 65011, "ebgp-multihop 2", "bfd"))
	s := l.speaker(node, nodeConfig(withBFD(Peer{Address: netip.MustParseAddr("10.2.1.2"), ASN: 65000, Multihop: 2})))
	s.set(routes(service[0]))
	b := bfdLab{lab: l, f: f, s: s}
	until(t, "BGP and BFD", func() bool {
		st := s.peer(0)
		return st.State == "ESTABLISHED" && st.BFD.State == "UP" && st.BFD.Multihop && time.Since(st.Since) > bfdUpWait
	})
	b.f.installed(service[0], "10.2.1.1")
}

// An iBGP peer on the link has single hop BFD.
func TestFRRBFDInternal(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frrBFD(router, frrNeighbour("10.1.1.11", 65000, "bfd"))
	c := nodeConfig(withBFD(v4Peer()))
	c.ASN = 65000
	b := bfdLab{lab: l, f: f, s: l.speaker(node, c)}
	b.s.set(routes(service...))
	if st := b.atRest(); st.BFD.Multihop {
		t.Errorf("unexpected state: %+v", st.BFD)
	}
}

// BIRD, whose BFD is single hop with GTSM too.
func TestBIRDBFD(t *testing.T) {
	l := newLab(t, "bird", "birdc", "nft")
	node, router := l.pair()
	conf := strings.Replace(birdConf, "passive on;", "passive on;\n\tbfd on;", 1) +
		"protocol bfd watch { interface \"*\" { interval 300 ms; multiplier 3; }; }\n"
	b := l.birdWith(router, conf)
	s := l.speaker(node, nodeConfig(withBFD(v4Peer().with(func(p *Peer) { p.Password, p.TTLSecurity = "secret", true }))))
	s.set(routes(service...))
	rest := func() {
		t.Helper()
		until(t, "BGP and BFD at rest", func() bool {
			st := s.peer(0)
			return st.State == "ESTABLISHED" && st.BFD.State == "UP" && time.Since(st.Since) > bfdUpWait && time.Since(st.BFD.Since) > bfdUpWait
		})
	}
	installed := func(want bool) {
		t.Helper()
		until(t, "the kernel route", func() bool { return strings.Contains(l.routes(router, "10.1.9.53"), "10.1.1.11") == want })
	}
	rest()
	installed(true)
	if st := s.peer(0); st.BFD.Multihop || st.BFD.Detection != 900*time.Millisecond {
		t.Errorf("unexpected state: %+v", st.BFD)
	}
	t.Logf("sessions lost on the way up: %d", len(s.logs.lines("bgp session down")))

	began := l.freeze(node)
	installed(false)
	t.Logf("node frozen to route gone: %v", time.Since(began).Round(time.Millisecond))
	l.thaw(node)
	back := time.Now()
	installed(true)
	t.Logf("node thawed to route back: %v", time.Since(back).Round(time.Millisecond))
	rest()

	b.stop()
	until(t, "down", func() bool { return s.peer(0).State != "ESTABLISHED" })
	b.start()
	rest()
	installed(true)
}
