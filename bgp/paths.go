package bgp

import (
	"fmt"
	"net/netip"

	"github.com/osrg/gobgp/v4/pkg/apiutil"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// The local preference of iBGP, and inside GoBGP the sign by which the export
// policy tells a full route from a depreferred one; eBGP never sends it.
const (
	prefFull        = 100
	prefDepreferred = 0
)

// attributes are what every route of this node carries to every peer.
type attributes struct {
	asn      uint32
	routerID netip.Addr
	extra    communities
}

// path returns a route as GoBGP's local path. Its next hop is unspecified:
// the export policy sets the one of each peer.
func (a attributes) path(r Route) (*apiutil.Path, error) {
	p, err := withdrawal(r.Prefix)
	if err != nil {
		return nil, err
	}
	pref := uint32(prefFull)
	standard := a.extra.standard
	if r.Depreferred {
		pref = prefDepreferred
		standard = append(standard[:len(standard):len(standard)], gracefulShutdown)
	}
	p.Attrs = append(p.Attrs,
		bgp.NewPathAttributeOrigin(bgp.BGP_ORIGIN_ATTR_TYPE_IGP),
		bgp.NewPathAttributeLocalPref(pref),
		bgp.NewPathAttributeLargeCommunities(a.larges(r.Depreferred)),
	)
	if len(standard) > 0 { // FRR takes an empty attribute for a withdrawal
		p.Attrs = append(p.Attrs, bgp.NewPathAttributeCommunities(standard))
	}
	return p, nil
}

// larges returns the mark and the configured large communities.
func (a attributes) larges(depreferred bool) []*bgp.LargeCommunity {
	all := append([]large{mark(a.asn, a.routerID, depreferred)}, a.extra.large...)
	list := make([]*bgp.LargeCommunity, len(all))
	for i, l := range all {
		list[i] = bgp.NewLargeCommunity(l[0], l[1], l[2])
	}
	return list
}

// withdrawal returns the bare path that GoBGP deletes a route by.
func withdrawal(prefix netip.Prefix) (*apiutil.Path, error) {
	nlri, err := bgp.NewIPAddrPrefix(prefix)
	if err != nil {
		return nil, fmt.Errorf("failed to encode prefix %s: %w", prefix, err)
	}
	p := &apiutil.Path{Nlri: nlri, Family: bgp.RF_IPv4_UC}
	var hop bgp.PathAttributeInterface
	if prefix.Addr().Is4() {
		hop, err = bgp.NewPathAttributeNextHop(netip.IPv4Unspecified())
	} else {
		p.Family = bgp.RF_IPv6_UC
		hop, err = bgp.NewPathAttributeMpReachNLRI(p.Family,
			[]bgp.PathNLRI{{NLRI: nlri}}, netip.IPv6Unspecified())
	}
	if err != nil {
		return nil, fmt.Errorf("failed to encode prefix %s: %w", prefix, err)
	}
	p.Attrs = []bgp.PathAttributeInterface{hop}
	return p, nil
}
