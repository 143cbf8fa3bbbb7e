package bgp

import (
	"time"

	"recuse/bgp/bfd"
)

// How BGP and BFD stand to each other (RFC 5882). BFD that goes down takes
// BGP with it; BFD that is not up yet delays BGP for a while only, since a
// router may have none, or begin it after BGP (Junos, IOS-XE, EOS).
const (
	// patience is how long BGP waits for BFD, counted from its beginning or
	// its loss.
	patience = 5 * time.Second
	// strictPatience is the same for a peer that is strict about it.
	strictPatience = time.Minute
)

// standing is what of a BFD session matters to BGP.
type standing struct {
	up bool
	// barred: the router's operator took it down, which says nothing about
	// the path (RFC 5882, section 3.2).
	barred bool
	// absent: there is none, since it could not be made.
	absent bool
	// follows: it last came up beside an established BGP session, so the
	// router may not begin it before. Such are Junos, IOS-XE, EOS, and FRR
	// with multihop, which takes its address from the BGP session.
	follows bool
	// since is when it began, or was last lost.
	since time.Time
}

// wait returns how long BGP has to wait for BFD from now on; zero: not at all.
func (s standing) wait(strict bool, now time.Time) time.Duration {
	most := patience
	switch {
	case s.up || s.barred:
		return 0
	case strict:
		most = strictPatience
	case s.absent || s.follows:
		return 0
	}
	return max(s.since.Add(most).Sub(now), 0)
}

// lost reports whether BGP has to go down with a transition of BFD: one that
// tells of the path or of the other end, not of an operator's wish.
func lost(e bfd.Event) bool {
	return e.From == bfd.Up && (e.Reason == bfd.ReasonPeerDown || e.Reason == bfd.ReasonExpired)
}

// strandKinds returns what sessions to try with p's router: false is single
// hop, true multihop.
//
// GTSM says that the router is one hop away, so single hop is right and BIRD
// does that. But FRR (8.4) makes the BFD of an eBGP neighbour with GTSM a
// multihop session. So both are tried, and the one that comes up stays.
func (p Peer) strandKinds(external bool) []bool {
	switch {
	case p.Multihop > 1:
		return []bool{true}
	case p.TTLSecurity && external && !p.Address.IsLinkLocalUnicast():
		return []bool{false, true}
	}
	return []bool{false}
}

// strand returns the configuration of one of p's sessions.
func (p Peer) strand(b BFD, multihop bool) bfd.Config {
	c := bfd.Config{
		Peer: p.Address, Local: p.LocalAddress, Interface: p.Interface, Multihop: multihop,
		DesiredMinTx: b.Interval, RequiredMinRx: b.Interval, Multiplier: uint8(b.Multiplier),
		Auth: b.Auth,
	}
	if multihop {
		c.Interface = "" // the address says enough, and RFC 5883 knows no link
		if p.TTLSecurity {
			c.MinTTL = 255 // it is one hop all the same
		}
	}
	return c
}
