package peer

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recuse/lab/topology"
)

// side is how a router speaks with the nodes of an agent. What is zero stays at
// the router's own default.
type side struct {
	hold  time.Duration // FRR's default 180 s (bgpd(8), `timers bgp`), BIRD's 240 s
	retry time.Duration // of the connection; FRR's and BIRD's default 120 s
	bfd   bool
	pace  *topology.BFD // of BFD; FRR's default 300 ms x 3, BIRD's 10 ms (100 ms to send) x 5
	// med compares the metric of nodes of different ASNs, which tells an agent's
	// unfit node from a fit one. It is off in both routers, and most of those who
	// use such agents have to find that out.
	med bool
}

// quick are the fastest sides: the shortest hold time that there is (RFC 4271,
// 4.2), and the pace of BFD that software keeps on a busy box.
var (
	quick    = side{hold: 3 * time.Second, retry: time.Second}
	quickBFD = topology.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}
)

// config is the configuration of a router for these nodes.
func (s side) config(kind string, nodes []*topology.Node) string {
	if kind == topology.BIRD {
		return s.bird(nodes)
	}
	return s.frr(nodes)
}

// frr is FRR's. Without kernel groups a next hop that lost its carrier returns
// to its route (8.4). Of a next hop's two IPv6 addresses the global one is taken,
// which the lab knows; FRR prefers the other.
func (s side) frr(nodes []*topology.Node) string {
	var b strings.Builder
	b.WriteString("no zebra nexthop kernel enable\nroute-map NOTHING deny 10\nexit\n")
	b.WriteString("route-map GLOBAL permit 10\n set ipv6 next-hop prefer-global\nexit\n")
	b.WriteString(s.frrBFD())
	fmt.Fprintf(&b, "router bgp %d\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n", topology.RouterASN)
	if s.med {
		b.WriteString(" bgp always-compare-med\n")
	}
	for _, n := range nodes {
		fmt.Fprintf(&b, " neighbor %s remote-as %d\n", n.V4, n.ASN)
		b.WriteString(s.frrSession(n.V4))
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		fmt.Fprintf(&b, " address-family %s unicast\n  maximum-paths 16\n", family)
		for _, n := range nodes {
			fmt.Fprintf(&b, "  neighbor %s activate\n  neighbor %s route-map NOTHING out\n", n.V4, n.V4)
			if family == "ipv6" {
				fmt.Fprintf(&b, "  neighbor %s route-map GLOBAL in\n", n.V4)
			}
		}
		b.WriteString(" exit-address-family\n")
	}
	b.WriteString("exit\n")
	return b.String()
}

// frrBFD is what FRR has of BFD before the sessions, on either end.
func (s side) frrBFD() string {
	switch {
	case !s.bfd:
		return ""
	case s.pace == nil:
		return "bfd\nexit\n"
	}
	ms := s.pace.Interval.Milliseconds()
	return fmt.Sprintf("bfd\n profile quick\n  transmit-interval %d\n  receive-interval %d\n  detect-multiplier %d\n exit\nexit\n",
		ms, ms, s.pace.Multiplier)
}

// frrSession is what FRR has of a session with the other end, on either end.
func (s side) frrSession(other netip.Addr) string {
	var b strings.Builder
	if s.hold > 0 {
		fmt.Fprintf(&b, " neighbor %s timers %d %d\n", other, int(s.hold.Seconds())/3, int(s.hold.Seconds()))
	}
	if s.retry > 0 {
		fmt.Fprintf(&b, " neighbor %s timers connect %d\n", other, int(s.retry.Seconds()))
	}
	if s.bfd {
		fmt.Fprintf(&b, " neighbor %s bfd\n", other)
	}
	if s.bfd && s.pace != nil {
		fmt.Fprintf(&b, " neighbor %s bfd profile quick\n", other)
	}
	return b.String()
}

// bird is BIRD's.
func (s side) bird(nodes []*topology.Node) string {
	var b strings.Builder
	b.WriteString("protocol device {}\n")
	for _, family := range []string{"ipv4", "ipv6"} {
		fmt.Fprintf(&b, "protocol kernel { %s { export where source = RTS_BGP; }; merge paths on limit 16; }\n", family)
	}
	if s.bfd {
		b.WriteString("protocol bfd {}\n")
	}
	for _, n := range nodes {
		fmt.Fprintf(&b, "protocol bgp %s {\n\tlocal as %d;\n\tneighbor %s as %d;\n\tdirect;\n%s", n.ShortName, topology.RouterASN, n.V4, n.ASN, s.birdSession())
		if s.med {
			b.WriteString("\tmed metric on;\n")
		}
		b.WriteString("\tipv4 { import all; export none; };\n\tipv6 { import all; export none; };\n}\n")
	}
	return b.String()
}

// birdSession is what BIRD has of a session, on either end. Its default keeps a
// peer out for one to five minutes after an error (`error wait time`).
func (s side) birdSession() string {
	var b strings.Builder
	if s.hold > 0 {
		fmt.Fprintf(&b, "\thold time %d;\n", int(s.hold.Seconds()))
	}
	if s.retry > 0 {
		r := int(s.retry.Seconds())
		fmt.Fprintf(&b, "\tconnect delay time %d;\n\tconnect retry time %d;\n\terror wait time %d, %d;\n", r, r, r, r)
	}
	switch {
	case s.bfd && s.pace != nil:
		fmt.Fprintf(&b, "\tbfd { interval %d ms; multiplier %d; };\n", s.pace.Interval.Milliseconds(), s.pace.Multiplier)
	case s.bfd:
		b.WriteString("\tbfd on;\n")
	}
	return b.String()
}

// String is the report's word of it.
func (s side) String() string {
	hold, bfd := "hold time of the daemons' defaults", "no BFD"
	if s.hold > 0 {
		hold = fmt.Sprintf("hold time %v", s.hold)
	}
	if s.bfd {
		bfd = "BFD at the daemons' defaults"
	}
	if s.pace != nil {
		bfd = "BFD " + s.pace.String()
	}
	return hold + ", " + bfd
}
