package bgp

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// frrLab is a node's speaker and an FRR router on one cable.
func frrLab(t *testing.T, router string, peer Peer) (*lab, *frr, *helper) {
	t.Helper()
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, r := l.pair()
	f := l.frr(r, router)
	return l, f, l.speaker(node, nodeConfig(peer))
}

// What is wrong is said in words, once in the log however often it is tried.
func TestFRRRefuses(t *testing.T) {
	tests := []struct {
		name, frr, says string
		peer            Peer
	}{
		{"wrong MD5 password", frrNeighbour("10.1.1.11", 65011, "password right"),
			"the MD5 password may differ", v4Peer().with(func(p *Peer) { p.Password = "wrong" })},
		{"MD5 on the router only", frrNeighbour("10.1.1.11", 65011, "password right"),
			"it may expect an MD5 password", v4Peer()},
		{"MD5 on the node only", frrNeighbour("10.1.1.11", 65011),
			"or the router has none", v4Peer().with(func(p *Peer) { p.Password = "alone" })},
		{"GTSM on the node only", frrNeighbour("10.1.1.11", 65011),
			"ttl_security may be set on one side only", v4Peer().with(func(p *Peer) { p.TTLSecurity = true })},
		{"router expects another AS", frrNeighbour("10.1.1.11", 65099),
			"refuses our AS 65011: it says bad peer AS", v4Peer()},
		{"router has another AS", frrNeighbour("10.1.1.11", 65011),
			"the router is AS 65000, but asn: 65001 is configured", v4Peer().with(func(p *Peer) { p.ASN = 65001 })},
		{"no such neighbour", frrNeighbour("10.1.1.99", 65011),
			"without a BGP message", v4Peer()},
		{"shut down by the router", frrNeighbour("10.1.1.11", 65011, "shutdown"),
			"or have it shut down", v4Peer()},
		{"not on the link", frrNeighbour("10.1.1.11", 65011),
			"10.1.1.200:179 cannot be reached", v4Peer().with(func(p *Peer) { p.Address = netip.MustParseAddr("10.1.1.200") })},
		{"no route", frrNeighbour("10.1.1.11", 65011),
			"no route to 192.0.2.1:179", v4Peer().with(func(p *Peer) {
				p.Address, p.LocalAddress = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.1.1.11")
			})},
		{"local address missing", frrNeighbour("10.1.1.11", 65011),
			"local_address 10.1.1.12 is not on this box", v4Peer().with(func(p *Peer) { p.LocalAddress = netip.MustParseAddr("10.1.1.12") })},
		{"interface missing", frrNeighbour("10.1.1.11", 65011),
			"interface e9", v4Peer().with(func(p *Peer) { p.Interface, p.LocalAddress = "e9", netip.MustParseAddr("10.1.1.11") })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, s := frrLab(t, tt.frr, tt.peer)
			s.set(routes(service...))
			st := s.says(0, tt.says)
			if st.State == "ESTABLISHED" || len(st.Sent) != 0 {
				t.Errorf("unexpected state: %+v", st)
			}
			t.Log(st.LastError)
			s.logsOnce(tt.says)
		})
	}
}

func TestFRRRestarts(t *testing.T) {
	_, f, s := frrLab(t, frrNeighbour("10.1.1.11", 65011), v4Peer())
	s.set(routes(service...))
	f.installed(service[0], "10.1.1.11")
	for range 2 {
		f.stopBGPd()
		s.says(0, "10.1.1.1")
		if st := s.peer(0); st.State == "ESTABLISHED" || len(st.Sent) != 0 {
			t.Errorf("unexpected state of a lost peer: %+v", st)
		}
		f.bgpd()
		until(t, "bgpd listens", func() bool { return strings.Contains(f.vtysh("show bgp summary"), "65000") })
		back := time.Now()
		f.installed(service[0], "10.1.1.11")
		t.Logf("router back to route in its kernel: %v", time.Since(back).Round(time.Millisecond))
		s.established(0)
		if st := s.peer(0); st.LastError != "" {
			t.Errorf("the last error outlives the return: %s", st.LastError)
		}
	}
}

// The cable is out for longer than the hold time, and then it is back.
func TestCableOut(t *testing.T) {
	l, f, s := frrLab(t, frrNeighbour("10.1.1.11", 65011), v4Peer().with(func(p *Peer) { p.HoldTime = 3 * time.Second }))
	s.set(routes(service[0]))
	f.installed(service[0], "10.1.1.11")
	l.must("ip", "-n", f.ns, "link", "set", "e0", "down")
	s.says(0, "hold timer expired")
	s.says(0, "gives no answer")
	l.must("ip", "-n", f.ns, "link", "set", "e0", "up")
	back := time.Now()
	f.installed(service[0], "10.1.1.11")
	t.Logf("cable back to route in the router's kernel: %v", time.Since(back).Round(time.Millisecond))
}

// All routers are IPv6: the identifier is an IPv4 address of the box, but not
// a host address, which may be a service's and the same on every node.
func TestRouterIDBesideIPv6(t *testing.T) {
	l := newLab(t)
	node, _ := l.pair()
	l.must("ip", "-n", node, "addr", "flush", "dev", "e0", "scope", "global")
	l.addr(node, "e0", "10.1.9.53/32", "2001:db8:1::11/64")
	s := l.speaker(node, nodeConfig(v6Peer()))
	s.says(0, "no IPv4 address to take the router-id from (yet): set bgp.router_id")
	l.addr(node, "e0", "10.1.1.11/24")
	until(t, "BGP started", func() bool { return len(s.logs.lines("router_id=10.1.1.11")) == 1 })
}

func TestRouterAfterNode(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	s := l.speaker(node, nodeConfig(v4Peer()))
	s.set(routes(service...))
	s.says(0, "refuses the TCP connection")
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	f.installed(service[0], "10.1.1.11")
	f.installed(service[1], "2001:db8:1::11")
}

// The box has no address at all at first, so not even a router-id.
func TestUplinkLater(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	l.must("ip", "-n", node, "addr", "flush", "dev", "e0")
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	s := l.speaker(node, nodeConfig(v4Peer()))
	s.set(routes(service[0]))
	if st := s.says(0, "no local IPv4 address towards 10.1.1.1"); st.State != "IDLE" {
		t.Errorf("unexpected state: %+v", st)
	}
	l.addr(node, "e0", "10.1.1.11/24")
	f.installed(service[0], "10.1.1.11")
	s.logsOnce("bgp waits")
}

// An IPv6 next hop that is missing withholds IPv6 only; once there, the routes
// follow on the same session; with two it is not for us to choose.
func TestNextHopLater(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	l.must("ip", "-n", node, "addr", "del", "2001:db8:1::11/64", "dev", "e0")
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	s := l.speaker(node, nodeConfig(v4Peer()))
	s.set(routes(service...))
	f.installed(service[0], "10.1.1.11")
	before := s.says(0, "IPv6 routes withheld: no next hop, since the interface of the session has no global IPv6 address")
	if _, ok := f.path(service[1]); ok || len(before.Sent) != 1 {
		t.Errorf("an IPv6 route left without a next hop: %+v", before)
	}
	l.addr(node, "e0", "2001:db8:1::11/64")
	f.installed(service[1], "2001:db8:1::11")
	after := s.peer(0)
	if after.LastError != "" || !after.Since.Equal(before.Since) {
		t.Errorf("unexpected state: %+v, was %+v", after, before)
	}
	l.addr(node, "e0", "2001:db8:1::12/64")
	s.says(0, "has 2 global IPv6 addresses")
	f.gone(service[1])
	f.installed(service[0], "10.1.1.11")
}

func TestTwoRouters(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, one := l.pair()
	two := l.ns("s")
	l.join(node, two, "e1")
	l.addr(node, "e1", "10.2.1.11/24")
	l.addr(two, "e1", "10.2.1.1/24")
	f1 := l.frr(one, frrNeighbour("10.1.1.11", 65011))
	f2 := l.frr(two, frrNeighbour("10.2.1.11", 65011))
	s := l.speaker(node, nodeConfig(v4Peer(), Peer{Address: netip.MustParseAddr("10.2.1.1"), ASN: 65000}))
	s.set(routes(service[0]))
	f1.installed(service[0], "10.1.1.11")
	f2.installed(service[0], "10.2.1.11")
	before := s.peer(1)
	f1.stopBGPd()
	s.says(0, "10.1.1.1")
	seen := cmpopts.IgnoreFields(PeerState{}, "Marked", "EndOfRIB") // these come a little later
	if diff := cmp.Diff(before, s.peer(1), compareAddrs, seen); diff != "" {
		t.Errorf("the death of one router touched the other (-want +got):\n%s", diff)
	}
	f2.installed(service[0], "10.2.1.11")
	if got := l.routes(two, "10.1.1.0/24"); got != "" {
		t.Errorf("something learned was passed on: %s", got)
	}
	s.set(nil)
	f2.gone(service[0])
}

// What a router sends is neither installed nor passed on to another.
func TestNothingPassedOn(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, one := l.pair()
	two := l.ns("s")
	l.join(node, two, "e1")
	l.addr(node, "e1", "10.2.1.11/24")
	l.addr(two, "e1", "10.2.1.1/24")
	f1 := l.frr(one, frrNeighbour("10.1.1.11", 65011)+
		" address-family ipv4 unicast\n  network 10.1.9.53/32\n  network 198.51.100.0/24\n exit-address-family\n")
	f2 := l.frr(two, strings.ReplaceAll(frrNeighbour("10.2.1.11", 65011), "65000", "65002"))
	s := l.speaker(node, nodeConfig(v4Peer(), Peer{Address: netip.MustParseAddr("10.2.1.1"), ASN: 65000}))
	s.established(0)
	s.established(1)
	until(t, "the router sends", func() bool {
		return strings.Contains(f1.vtysh("show bgp ipv4 unicast neighbors 10.1.1.11 advertised-routes json"), "198.51.100.0/24")
	})
	s.set(routes(service[1])) // a later change makes GoBGP send again
	until(t, "our route at the second router", func() bool { _, ok := f1.path(service[1]); return ok })
	for _, prefix := range []string{"198.51.100.0/24", "10.1.9.53/32"} {
		if p, ok := f2.path(prefix); ok {
			t.Errorf("%s was passed on: %+v", prefix, p)
		}
		if got := l.routes(node, prefix); got != "" {
			t.Errorf("%s was installed: %s", prefix, got)
		}
	}
}

// Both sides dial and both listen: whatever collides, a session stays.
func TestBothDial(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frr(router, strings.ReplaceAll(frrNeighbour("10.1.1.11", 65011, "password secret", "timers connect 1"), " neighbor 10.1.1.11 passive\n", ""))
	c := nodeConfig(v4Peer().with(func(p *Peer) { p.Password = "secret" }))
	c.Listen = netip.MustParseAddrPort("10.1.1.11:179")
	s := l.speaker(node, c)
	s.set(routes(service...))
	for range 4 {
		f.installed(service[0], "10.1.1.11")
		since := s.peer(0).Since
		f.vtysh("clear bgp *")
		until(t, "a new session", func() bool { st := s.peer(0); return st.State == "ESTABLISHED" && st.Since.After(since) })
	}
}

// The node only listens, since its dials go to a closed port; a stranger is
// turned away.
func TestRouterDials(t *testing.T) {
	for _, tt := range []struct{ name, listen, neighbour string }{
		{"IPv4", "10.1.1.11:179", "10.1.1.11"},
		{"IPv6", "[2001:db8:1::11]:179", "2001:db8:1::11"},
		{"IPv4 on an IPv6 socket", "[::]:179", "10.1.1.11"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, frrLib+"bgpd", "vtysh")
			node, router := l.pair()
			f := l.frr(router, strings.ReplaceAll(frrNeighbour(tt.neighbour, 65011, "password secret", "timers connect 1", "ttl-security hops 1"),
				" neighbor "+tt.neighbour+" passive\n", ""))
			p := v4Peer()
			if strings.Contains(tt.neighbour, ":") {
				p = v6Peer()
			}
			c := nodeConfig(p.with(func(p *Peer) { p.Password, p.TTLSecurity, p.Port = "secret", true, 1790 }))
			c.Listen = netip.MustParseAddrPort(tt.listen)
			s := l.speaker(node, c)
			s.set(routes(service...))
			f.installed(service[0], "10.1.1.11")
			f.installed(service[1], "2001:db8:1::11")
		})
	}
}

// The loss of BFD ends the session with words for both sides, and it is
// dialed again.
func TestResetPeer(t *testing.T) {
	_, f, s := frrLab(t, frrNeighbour("10.1.1.11", 65011), v4Peer())
	s.set(routes(service[0]))
	f.installed(service[0], "10.1.1.11")
	since := s.peer(0).Since
	s.do(order{Do: "reset", Text: "BFD: no packet for 900ms"})
	until(t, "a new session", func() bool { st := s.peer(0); return st.State == "ESTABLISHED" && st.Since.After(since) })
	f.installed(service[0], "10.1.1.11")
	s.logsOnce("BFD: no packet for 900ms")
	log, _ := os.ReadFile(f.dir + "/bgpd.log")
	if !strings.Contains(string(log), "6/10") {
		t.Errorf("the router was not told of BFD:\n%s", log)
	}
}

// A killed process leaves nothing at the router: no graceful restart.
func TestKilled(t *testing.T) {
	_, f, s := frrLab(t, frrNeighbour("10.1.1.11", 65011), v4Peer())
	s.set(routes(service...))
	f.installed(service[0], "10.1.1.11")
	f.installed(service[1], "2001:db8:1::11")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	f.gone(service[0])
	f.gone(service[1])
}
