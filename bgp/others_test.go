package bgp

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// star is a router with several nodes, each on a cable of its own: node i has
// 10.i.1.11 and the router 10.i.1.1.
type star struct {
	l      *lab
	router string
	nodes  []string
}

// star makes the namespaces.
func (l *lab) star(n int) star {
	l.t.Helper()
	s := star{l: l, router: l.ns("r")}
	for i := 1; i <= n; i++ {
		ns, dev := l.ns(fmt.Sprint("n", i)), fmt.Sprint("e", i)
		l.join(ns, s.router, dev)
		l.addr(ns, dev, s.address(i).String()+"/24", fmt.Sprintf("2001:db8:%d::11/64", i))
		l.addr(s.router, dev, fmt.Sprintf("10.%d.1.1/24", i), fmt.Sprintf("2001:db8:%d::1/64", i))
		s.nodes = append(s.nodes, ns)
	}
	return s
}

// address is that of node i, counted from 1, and its router-id.
func (s star) address(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i), 1, 11}) }

// config is node i's configuration.
func (s star) config(i int, asn uint32) Config {
	c := nodeConfig(Peer{Address: netip.AddrFrom4([4]byte{10, byte(i), 1, 1}), ASN: 65000})
	c.ASN = asn
	return c
}

// speakers starts a node for each AS number; all of them announce.
func (s star) speakers(asns ...uint32) []*helper {
	s.l.t.Helper()
	var list []*helper
	for i, asn := range asns {
		h := s.l.speaker(s.nodes[i], s.config(i+1, asn))
		h.set(routes(service...))
		list = append(list, h)
	}
	for _, h := range list {
		until(s.l.t, "both routes sent", func() bool { return len(h.peer(0).Sent) == 2 })
	}
	return list
}

// sees waits until h sees exactly these, for both prefixes.
func (h *helper) sees(what string, want ...Seen) {
	h.t.Helper()
	var all []Seen
	for _, p := range service {
		for _, w := range want {
			w.Prefix = netip.MustParsePrefix(p)
			all = append(all, w)
		}
	}
	var diff string
	if !holds(func() bool {
		diff = cmp.Diff(all, h.peer(0).Seen, compareAddrs)
		return diff == ""
	}) {
		h.t.Fatalf("%s: others are not seen as they should be (-want +got):\n%s", what, diff)
	}
}

// frrStar are FRR's neighbours for a star.
func frrStar(s star, asns []uint32, extra ...string) string {
	var b strings.Builder
	b.WriteString(" bgp bestpath as-path multipath-relax\n")
	for i, asn := range asns {
		b.WriteString(frrNeighbour(s.address(i+1).String(), asn, extra...))
	}
	return b.String()
}

// familyLine puts a setting of each neighbour into each address family.
func familyLine(conf, setting string) string {
	var b strings.Builder
	for line := range strings.Lines(conf) {
		b.WriteString(line)
		if neighbour, ok := strings.CutSuffix(line, " activate\n"); ok {
			b.WriteString(neighbour + " " + setting + "\n")
		}
	}
	return b.String()
}

// threeNodes goes through what a fleet sees of itself when its router sends
// its best path to everybody, the origin included. The best node sees nobody
// until it steps back.
func threeNodes(t *testing.T, s star, nodes []*helper) {
	t.Helper()
	id := func(i int) netip.Addr { return s.address(i + 1) }
	best, others := -1, []int{}
	for i, h := range nodes {
		until(t, "a mark from the router", func() bool { return h.peer(0).Marked })
		if len(h.peer(0).Seen) == 0 {
			best = i
		} else {
			others = append(others, i)
		}
	}
	if best < 0 || len(others) != 2 {
		t.Fatalf("no one node of three sees nobody: %d, %v", best, others)
	}
	one, two := others[0], others[1]
	for _, i := range others {
		nodes[i].sees("at first", Seen{Node: id(best)})
	}
	nodes[best].sees("the best at first")

	began := nodes[best].set(depreferred(routes(service...)))
	until(t, "others at the best", func() bool { return len(nodes[best].peer(0).Seen) == 2 })
	t.Logf("depreference to others seen: %v", time.Since(began).Round(time.Millisecond))
	next := nodes[best].peer(0).Seen[0].Node
	if next != id(one) && next != id(two) {
		t.Fatalf("unknown node %s", next)
	}
	if next == id(two) {
		one, two = two, one
	}
	nodes[best].sees("after its depreference", Seen{Node: id(one)})
	nodes[one].sees("the new best")
	nodes[two].sees("the third", Seen{Node: id(one)})

	nodes[one].set(nil)
	nodes[best].sees("two left", Seen{Node: id(two)})
	nodes[one].sees("the withdrawn one", Seen{Node: id(two)})
	nodes[two].set(depreferred(routes(service...)))
	nodes[one].sees("second choices only", Seen{Node: nodes[one].peer(0).Seen[0].Node, Depreferred: true})
	nodes[best].set(nil)
	nodes[two].set(nil)
	for _, h := range nodes {
		h.sees("nobody is left")
		if !h.peer(0).Marked {
			t.Error("a mark is forgotten")
		}
		if got := h.peer(0).Gone; len(got) != len(service) {
			t.Errorf("unexpected prefixes taken back: %v", got)
		}
	}
	began = nodes[two].set(routes(service...))
	nodes[one].sees("one is back", Seen{Node: id(two)})
	t.Logf("announcement to seen by another node: %v", time.Since(began).Round(time.Millisecond))
	nodes[two].sees("the one that is back")
}

func TestFRROthers(t *testing.T) {
	tests := []struct {
		name string
		asns []uint32
	}{
		{"AS numbers of their own", []uint32{65011, 65012, 4200000013}},
		{"a shared AS number", []uint32{65011, 65011, 65011}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, frrLib+"bgpd", "vtysh")
			s := l.star(3)
			l.frr(s.router, frrStar(s, tt.asns))
			threeNodes(t, s, s.speakers(tt.asns...))
		})
	}
}

// A route reflector shows its clients its best path, but not their own.
func TestFRRReflector(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	s := l.star(3)
	asns := []uint32{65000, 65000, 65000}
	f := familyLine(frrStar(s, asns), "route-reflector-client")
	l.frr(s.router, f)
	nodes := s.speakers(asns...)
	best := netip.Addr{}
	until(t, "two of three see one node", func() bool {
		n := 0
		for _, h := range nodes {
			if seen := h.peer(0).Seen; len(seen) == 2 {
				best, n = seen[0].Node, n+1
			}
		}
		return n == 2
	})
	for i, h := range nodes {
		if s.address(i+1) == best {
			h.set(nil)
			until(t, "the next one seen", func() bool { return len(h.peer(0).Seen) == 2 })
			if got := h.peer(0).Seen[0].Node; got == best {
				t.Error("a node sees itself")
			}
			return
		}
		h.sees("a client", Seen{Node: best})
	}
}

// With add-path the router shows all the others at once.
func TestFRRAddPath(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	s := l.star(3)
	asns := []uint32{65011, 65012, 65013}
	f := familyLine(frrStar(s, asns), "addpath-tx-all-paths")
	l.frr(s.router, f)
	nodes := s.speakers(asns...)
	for i, h := range nodes {
		var want []Seen
		for j := range nodes {
			if j != i {
				want = append(want, Seen{Node: s.address(j + 1), Depreferred: false})
			}
		}
		h.sees("all at once", want...)
	}
	nodes[0].set(depreferred(routes(service...)))
	nodes[1].sees("one steps back", Seen{Node: s.address(1), Depreferred: true}, Seen{Node: s.address(3)})
	nodes[0].set(nil)
	nodes[1].sees("and is gone", Seen{Node: s.address(3)})
}

// A router that strips large communities shows nobody, and never a mark.
func TestFRRStripsMarks(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	s := l.star(2)
	asns := []uint32{65011, 65012}
	f := familyLine(frrStar(s, asns), "route-map STRIP out")
	r := l.frr(s.router, f+"exit\n"+
		"route-map STRIP permit 1\n set large-community none\n")
	nodes := s.speakers(asns...)
	until(t, "the router sends routes", func() bool {
		return strings.Contains(r.vtysh("show bgp ipv4 unicast neighbors 10.1.1.11 advertised-routes json"), "10.1.9.53/32")
	})
	for _, h := range nodes {
		until(t, "the silence taken for End-of-RIB", func() bool { return !h.peer(0).EndOfRIB.IsZero() })
		until(t, "its own prefix without a mark", func() bool { return h.peer(0).Unmarked })
		if st := h.peer(0); st.Marked || len(st.Seen) > 0 {
			t.Errorf("unexpected state: %+v", st)
		}
	}
}

// birdStar is BIRD with nodes in a star; extra goes into each session.
func birdStar(s star, asns []uint32, extra string) string {
	var b strings.Builder
	b.WriteString("router id 10.9.9.9;\nprotocol device {}\nprotocol direct { ipv4; ipv6; }\n")
	for i, asn := range asns {
		fmt.Fprintf(&b, "protocol bgp node%d {\n local 10.%d.1.1 as 65000;\n neighbor %s as %d;\n passive on;\n%s"+
			" ipv4 { import all; export where source = RTS_BGP; add paths tx; };\n"+
			" ipv6 { import all; export where source = RTS_BGP; add paths tx; };\n}\n", i+1, i+1, s.address(i+1), asn, extra)
	}
	return b.String()
}

// BIRD never sends a node its own route, but with add-path all the others.
func TestBIRDOthers(t *testing.T) {
	for _, paths := range []string{"all", "best"} {
		t.Run(paths, func(t *testing.T) {
			l := newLab(t, "bird", "birdc")
			s := l.star(3)
			asns := []uint32{65011, 65012, 4200000013}
			conf := birdStar(s, asns, "")
			if paths == "best" {
				conf = strings.ReplaceAll(conf, " add paths tx;", "")
			}
			l.birdWith(s.router, conf)
			nodes := s.speakers(asns...)
			if paths == "best" {
				birdBest(t, s, nodes)
				return
			}
			nodes[0].sees("all", Seen{Node: s.address(2)}, Seen{Node: s.address(3)})
			nodes[1].set(depreferred(routes(service...)))
			nodes[0].sees("one steps back", Seen{Node: s.address(2), Depreferred: true}, Seen{Node: s.address(3)})
			nodes[1].set(nil)
			nodes[2].set(nil)
			nodes[0].sees("alone")
			nodes[1].sees("withdrawn", Seen{Node: s.address(1)})
		})
	}
}

// birdBest is threeNodes for a router that keeps a node's own route from it.
func birdBest(t *testing.T, s star, nodes []*helper) {
	t.Helper()
	var best netip.Addr
	until(t, "two of three see one node", func() bool {
		n := 0
		for _, h := range nodes {
			if seen := h.peer(0).Seen; len(seen) == 2 {
				best, n = seen[0].Node, n+1
			}
		}
		return n == 2
	})
	for i, h := range nodes {
		if s.address(i+1) != best {
			continue
		}
		if h.peer(0).Marked {
			t.Error("BIRD sends a node's own route back")
		}
		began := h.set(depreferred(routes(service...)))
		until(t, "others at the best", func() bool { return len(h.peer(0).Seen) == 2 })
		t.Logf("depreference to others seen: %v", time.Since(began).Round(time.Millisecond))
	}
	for _, h := range nodes {
		h.set(nil)
	}
	for _, h := range nodes {
		h.sees("nobody is left")
		if !h.peer(0).Marked {
			t.Error("no mark was ever seen")
		}
	}
}

// Whether a router says End-of-RIB to one that offers no graceful restart, and
// that its silence is taken for it if not.
func TestEndOfRIBOnRouters(t *testing.T) {
	took := func(t *testing.T, h *helper) time.Duration {
		t.Helper()
		until(t, "End-of-RIB", func() bool { return !h.peer(0).EndOfRIB.IsZero() })
		st := h.peer(0)
		return st.EndOfRIB.Sub(st.Since)
	}
	t.Run("BIRD says it", func(t *testing.T) {
		l := newLab(t, "bird", "birdc")
		s := l.star(1)
		l.birdWith(s.router, birdStar(s, []uint32{65011}, ""))
		if d := took(t, s.speakers(65011)[0]); d > quietRIB/2 {
			t.Errorf("after %v", d)
		}
	})
	t.Run("BIRD without graceful restart does not", func(t *testing.T) {
		l := newLab(t, "bird", "birdc")
		s := l.star(1)
		l.birdWith(s.router, birdStar(s, []uint32{65011}, " graceful restart off;\n"))
		if d := took(t, s.speakers(65011)[0]); d < quietRIB {
			t.Errorf("after %v", d)
		}
	})
	t.Run("FRR does not", func(t *testing.T) {
		_, _, h := frrLab(t, frrNeighbour("10.1.1.11", 65011), v4Peer())
		if d := took(t, h); d < quietRIB {
			t.Errorf("after %v", d)
		}
	})
}

// A session that ends takes what was seen with it, but not the mark.
func TestSeenEndsWithSession(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	s := l.star(2)
	asns := []uint32{65011, 65012}
	f := l.frr(s.router, frrStar(s, asns))
	nodes := s.speakers(asns...)
	nodes[0].set(nil)
	nodes[0].sees("one", Seen{Node: s.address(2)})
	until(t, "End-of-RIB", func() bool { return !nodes[0].peer(0).EndOfRIB.IsZero() })
	f.stopBGPd()
	until(t, "down", func() bool { return nodes[0].peer(0).State != "ESTABLISHED" })
	if st := nodes[0].peer(0); len(st.Seen) > 0 || !st.Marked || !st.EndOfRIB.IsZero() {
		t.Errorf("unexpected state: %+v", st)
	}
	f.bgpd()
	nodes[0].sees("again", Seen{Node: s.address(2)})
}
