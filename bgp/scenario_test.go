package bgp

import (
	"net/netip"
	"os"
	"strings"
	"testing"
)

func TestFRRBothFamilies(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	s := l.speaker(node, nodeConfig(Peer{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65000}))
	full := routes(service...)
	s.set(full) // before the session is up
	for prefix, hop := range map[string]string{service[0]: "10.1.1.11", service[1]: "2001:db8:1::11"} {
		f.expect(prefix, wantFull(hop))
		f.installed(prefix, hop)
	}
	s.set(depreferred(full))
	f.expect(service[0], wantDepreferred("10.1.1.11"))
	f.expect(service[1], wantDepreferred("2001:db8:1::11"))
	s.set(full[1:])
	f.gone(service[0])
	f.expect(service[1], wantFull("2001:db8:1::11"))
	s.do(order{Do: "close", Text: "resolver under repair"})
	f.gone(service[1])
	log, err := os.ReadFile(f.dir + "/bgpd.log")
	if err != nil || !strings.Contains(string(log), "resolver under repair") {
		t.Errorf("the router's log lacks the shutdown communication (%v):\n%s", err, log)
	}
}

// v4Peer and v6Peer are the router of lab.pair.
func v4Peer() Peer { return Peer{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65000} }
func v6Peer() Peer { return Peer{Address: netip.MustParseAddr("2001:db8:1::1"), ASN: 65000} }

// with returns p after a change.
func (p Peer) with(f func(*Peer)) Peer {
	f(&p)
	return p
}

// A session of every kind, and the kernel of the router routes both families.
func TestFRRSessions(t *testing.T) {
	type want struct{ prefix, hop string }
	both := []want{{service[0], "10.1.1.11"}, {service[1], "2001:db8:1::11"}}
	tests := []struct {
		name  string
		frr   string
		peer  Peer
		drop  string // an address that the node does not have
		want  []want
		extra string
	}{
		{name: "over IPv6", peer: v6Peer(),
			frr: frrNeighbour("2001:db8:1::11", 65011), want: both},
		{name: "MD5 over IPv4", peer: v4Peer().with(func(p *Peer) { p.Password = "secret" }),
			frr: frrNeighbour("10.1.1.11", 65011, "password secret"), want: both},
		{name: "MD5 over IPv6", peer: v6Peer().with(func(p *Peer) { p.Password = "secret" }),
			frr: frrNeighbour("2001:db8:1::11", 65011, "password secret"), want: both},
		{name: "GTSM over IPv4", peer: v4Peer().with(func(p *Peer) { p.TTLSecurity = true }),
			frr: frrNeighbour("10.1.1.11", 65011, "ttl-security hops 1"), want: both},
		{name: "GTSM and MD5 over IPv6", peer: v6Peer().with(func(p *Peer) { p.TTLSecurity, p.Password = true, "secret" }),
			frr: frrNeighbour("2001:db8:1::11", 65011, "ttl-security hops 1", "password secret"), want: both},
		{name: "interface and local address", peer: v4Peer().with(func(p *Peer) {
			p.Interface, p.LocalAddress = "e0", netip.MustParseAddr("10.1.1.11")
		}), frr: frrNeighbour("10.1.1.11", 65011), want: both},
		{name: "next hops named", peer: v4Peer().with(func(p *Peer) {
			p.NextHopV4, p.NextHopV6 = netip.MustParseAddr("10.1.1.77"), netip.MustParseAddr("2001:db8:1::77")
		}), frr: frrNeighbour("10.1.1.11", 65011),
			want: []want{{service[0], "10.1.1.77"}, {service[1], "2001:db8:1::77"}}},
		{name: "RFC 8950", peer: v6Peer(), drop: "10.1.1.11/24",
			frr:  frrNeighbour("2001:db8:1::11", 65011, "capability extended-nexthop"),
			want: []want{{service[0], "169.254.0.1 dev e0"}, both[1]}}, // so FRR writes an IPv6 next hop
		{name: "link-local", peer: Peer{Address: netip.MustParseAddr("fe80::b"), Interface: "e0", ASN: 65000},
			frr:  frrNeighbour("fe80::a", 65011, "interface e0"),
			want: []want{both[0], {service[1], "fe80::a"}}},
		{name: "MD5 link-local", peer: Peer{Address: netip.MustParseAddr("fe80::b%e0"), Password: "secret", ASN: 65000},
			frr:  frrNeighbour("fe80::a", 65011, "interface e0", "password secret"),
			want: []want{both[0], {service[1], "fe80::a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, frrLib+"bgpd", "vtysh")
			node, router := l.pair()
			if tt.drop != "" {
				l.must("ip", "-n", node, "addr", "del", tt.drop, "dev", "e0")
			}
			f := l.frr(router, tt.frr)
			c := nodeConfig(tt.peer)
			c.RouterID = netip.MustParseAddr("10.1.1.11")
			s := l.speaker(node, c)
			s.set(routes(service...))
			for _, w := range tt.want {
				f.installed(w.prefix, w.hop)
			}
			if st := s.peer(0); st.LastError != "" || len(st.Sent) != 2 {
				t.Errorf("unexpected state: %+v", st)
			}
		})
	}
}

func TestFRRInternal(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frr(router, frrNeighbour("10.1.1.11", 65000))
	c := nodeConfig(v4Peer().with(func(p *Peer) { p.Communities = []string{"65000:99", "65000:9:9"} }))
	c.ASN = 65000
	s := l.speaker(node, c)
	s.set(routes(service...))
	want := frrPath{ASPath: "Local", Origin: "IGP", LocalPref: ptr(100), Communities: "65000:53 65000:99",
		Large: "65000:9:9 65000:167837963:1937001", Hops: []string{"10.1.1.11"}}
	f.expect(service[0], want)
	f.installed(service[1], "2001:db8:1::11")
	s.set(depreferred(routes(service...)))
	want.LocalPref, want.Communities = ptr(0), "65000:53 65000:99 graceful-shutdown"
	want.Large = "65000:9:9 65000:167837963:1937002"
	f.expect(service[0], want)
}

// The router is two hops away: a TTL of 1 would not get there.
func TestFRRMultihop(t *testing.T) {
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
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011, "ebgp-multihop 2"))
	s := l.speaker(node, nodeConfig(Peer{Address: netip.MustParseAddr("10.2.1.2"), ASN: 65000, Multihop: 2}))
	s.set(routes(service[0]))
	f.installed(service[0], "10.2.1.1")
}
