package config

import (
	"math"
	"net/netip"
	"strings"
	"time"

	"recuse/bgp"
)

// bgp fills in the section bgp.
func (p *parser) bgp(c *Config, raw rawBGP) {
	c.BGP = bgp.Config{
		ASN:         p.asn("bgp.asn", raw.ASN),
		RouterID:    p.routerID("bgp.router_id", raw.RouterID),
		Listen:      p.listenBGP("bgp.listen", raw.Listen),
		Communities: p.communities("bgp.communities", raw.Communities),
		Deprefer: bgp.Deprefer{
			Prepend: int(p.number("bgp.deprefer.prepend", raw.Deprefer.Prepend, DefaultPrepend, 0, 10)),
			MED:     uint32(p.number("bgp.deprefer.med", raw.Deprefer.MED, DefaultMED, 0, math.MaxUint32)),
		},
	}
	if len(raw.Peers) == 0 {
		p.fail("bgp.peers", nil, "missing; name at least one router")
	}
	for i, r := range raw.Peers {
		c.BGP.Peers = append(c.BGP.Peers, p.peer(index("bgp.peers", i), r))
	}
}

// AS numbers that no speaker may have: RFC 7607, RFC 6793, RFC 7300.
const (
	asnZero   = 0
	asnTrans  = 23456
	asnLast16 = math.MaxUint16
	asnLast32 = math.MaxUint32
)

// asn returns an AS number, which has no default.
func (p *parser) asn(path string, s *scalar) uint32 {
	if s == nil {
		p.fail(path, s, "missing; give it an AS number, such as 65011 (64512 to 65534 are for private use)")
		return 0
	}
	n := uint32(p.number(path, s, asnZero, asnZero+1, asnLast32-1))
	if n == asnTrans || n == asnLast16 {
		p.fail(path, s, "a reserved AS number; 64512 to 65534 are for private use")
	}
	return n
}

// routerID returns the router id, the zero Addr for one that is found later.
func (p *parser) routerID(path string, s *scalar) netip.Addr {
	if s == nil {
		return netip.Addr{}
	}
	a, err := netip.ParseAddr(s.text)
	if err != nil || !a.Is4() || a.IsUnspecified() {
		p.fail(path, s, "must have the form of an IPv4 address, such as 10.1.1.11, and not be 0.0.0.0")
		return netip.Addr{}
	}
	return a
}

// listenBGP returns where the speaker listens, the zero AddrPort for nowhere.
func (p *parser) listenBGP(path string, s *scalar) netip.AddrPort {
	if s == nil {
		return netip.AddrPort{}
	}
	if a, err := netip.ParseAddr(s.text); err == nil && !a.IsMulticast() {
		return netip.AddrPortFrom(a, DefaultPort)
	}
	ap, err := netip.ParseAddrPort(s.text)
	if err != nil || ap.Port() == 0 || ap.Addr().IsMulticast() {
		p.fail(path, s, "must be ADDRESS:PORT, such as 10.1.1.11:179; leave it out to only dial")
		return netip.AddrPort{}
	}
	return ap
}

// communities returns a list of communities.
func (p *parser) communities(path string, raw []scalar) []string {
	var list []string
	for i, s := range raw {
		at := index(path, i)
		err := bgp.ParseCommunity(s.text)
		switch {
		case err != nil:
			p.fail(at, &s, "not a community, such as 65000:53, or 65000:1:53 for a large one")
		case isMark(s.text):
			p.fail(at, &s, "has the form of the mark, which the agent sets itself")
		default:
			list = append(list, s.text)
		}
		if s.text == gracefulShutdown {
			p.warn(at, &s, "makes this node second choice for good; deprefer does that when it is due")
		}
	}
	return list
}

// gracefulShutdown is the community that asks for another route (RFC 8326).
const gracefulShutdown = "65535:0"

// isMark reports whether a community could be taken for a node's mark.
func isMark(s string) bool {
	return strings.Count(s, ":") == 2 &&
		(strings.HasSuffix(s, ":1937001") || strings.HasSuffix(s, ":1937002"))
}

// peer makes one of bgp.peers.
func (p *parser) peer(path string, r rawPeer) bgp.Peer {
	address, link := p.peerAddress(path, r)
	peer := bgp.Peer{
		Address:      address,
		Interface:    link,
		ASN:          p.asn(path+".asn", r.ASN),
		Port:         uint16(p.number(path+".port", r.Port, DefaultPort, 1, math.MaxUint16)),
		LocalAddress: p.localAddress(path+".local_address", r.LocalAddress, address),
		Password:     p.password(path+".password_file", r.PasswordFile),
		TTLSecurity:  p.boolean(path+".ttl_security", r.TTLSecurity),
		Multihop:     int(p.number(path+".multihop", r.Multihop, 0, 1, math.MaxUint8)),
		Communities:  p.communities(path+".communities", r.Communities),
		NextHopV4:    p.nextHop(path+".next_hop_v4", r.NextHopV4, true),
		NextHopV6:    p.nextHop(path+".next_hop_v6", r.NextHopV6, false),
		HoldTime:     p.holdTime(path+".hold_time", r.HoldTime),
		ConnectRetry: p.duration(path+".connect_retry", r.ConnectRetry,
			span{DefaultConnectRetry, 100 * time.Millisecond, 10 * time.Minute}),
		BFD: p.bfd(path+".bfd", r.BFD),
	}
	if peer.TTLSecurity && r.Multihop != nil {
		p.fail(path+".multihop", r.Multihop, "excludes ttl_security: true; leave one of them out")
	}
	if address.IsLinkLocalUnicast() && r.Multihop != nil {
		p.fail(path+".multihop", r.Multihop, "a link-local peer is one hop away; leave it out")
	}
	return peer
}

// peerAddress returns a peer's address and the interface that leads to it. A
// link-local address has the interface as its zone, whichever of the two was
// written.
func (p *parser) peerAddress(path string, r rawPeer) (netip.Addr, string) {
	if r.Address == nil {
		p.fail(path+".address", nil, "missing; give it the address of the router")
	}
	a := p.address(path+".address", r.Address, true)
	link := p.linkName(path+".interface", r.Interface, "")
	zone := a.Zone()
	switch {
	case !a.IsValid():
	case zone != "" && !a.IsLinkLocalUnicast():
		p.fail(path+".address", r.Address, "only a link-local address has a zone (%%%s)", zone)
	case zone != "" && link != "" && zone != link:
		p.fail(path+".interface", r.Interface, "differs from the zone of address, %s", zone)
	case zone != "":
		link = zone
	case a.Is6() && a.IsLinkLocalUnicast() && r.Interface == nil:
		p.fail(path+".interface", nil, "missing; the link-local address %s needs the interface that leads to it", a)
	case a.Is6() && a.IsLinkLocalUnicast():
		a = a.WithZone(link)
	}
	return a, link
}

// localAddress returns the session's local address, zero for the kernel's
// choice.
func (p *parser) localAddress(path string, s *scalar, peer netip.Addr) netip.Addr {
	a := p.address(path, s, false)
	switch {
	case !a.IsValid() || !peer.IsValid():
	case a.Is4() != peer.Is4():
		p.fail(path, s, "must be of the family of address, %s", peer)
	case a == peer.WithZone(""):
		p.fail(path, s, "is the peer's own address")
	}
	return a
}

// nextHop returns the next hop of one family, zero for the default.
func (p *parser) nextHop(path string, s *scalar, v4 bool) netip.Addr {
	a := p.family(path, s, v4)
	if a.IsLoopback() {
		p.fail(path, s, "no router can send to a loopback address")
	}
	return a
}

// holdTime returns a hold time, which BGP carries in whole seconds.
func (p *parser) holdTime(path string, s *scalar) time.Duration {
	d := p.duration(path, s, span{DefaultHoldTime, 3 * time.Second, time.Hour})
	if d%time.Second != 0 {
		p.fail(path, s, "must be whole seconds, since BGP carries no others")
	}
	return d
}

// bfd makes the BFD session of a peer, nil if there is to be none.
func (p *parser) bfd(path string, r *rawBFD) *bgp.BFD {
	if r == nil {
		return nil
	}
	return &bgp.BFD{
		Interval: p.duration(path+".interval", r.Interval,
			span{DefaultBFDInterval, 10 * time.Millisecond, 10 * time.Second}),
		Multiplier: int(p.number(path+".multiplier", r.Multiplier, DefaultBFDMultiplier, 1, math.MaxUint8)),
		Strict:     p.boolean(path+".strict", r.Strict),
	}
}
