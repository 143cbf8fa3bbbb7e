package bgp

import (
	"net/netip"
	"slices"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// tally is the set of prefixes that a router holds from us, kept by reading
// our own UPDATEs after they were written to it.
type tally map[netip.Prefix]struct{}

// sent counts one whole message that was written to the router, and reports
// whether the tally changed.
func (t tally) sent(msg []byte) bool {
	if len(msg) < headerLen || msg[18] != typeUpdate {
		return false
	}
	m, err := bgp.ParseBGPMessage(msg)
	if err != nil {
		return false
	}
	update, ok := m.Body.(*bgp.BGPUpdate)
	if !ok {
		return false
	}
	changed := t.remove(update.WithdrawnRoutes)
	for _, a := range update.PathAttributes {
		switch a := a.(type) {
		case *bgp.PathAttributeMpUnreachNLRI:
			changed = t.remove(a.Value) || changed
		case *bgp.PathAttributeMpReachNLRI:
			changed = t.add(a.Value) || changed
		}
	}
	return t.add(update.NLRI) || changed
}

// add puts prefixes in.
func (t tally) add(list []bgp.PathNLRI) bool {
	before := len(t)
	for _, n := range list {
		if p, ok := n.NLRI.(*bgp.IPAddrPrefix); ok {
			t[p.Prefix] = struct{}{}
		}
	}
	return len(t) != before
}

// remove takes prefixes out.
func (t tally) remove(list []bgp.PathNLRI) bool {
	before := len(t)
	for _, n := range list {
		if p, ok := n.NLRI.(*bgp.IPAddrPrefix); ok {
			delete(t, p.Prefix)
		}
	}
	return len(t) != before
}

// minus returns what is in t and not in o, sorted.
func (t tally) minus(o tally) []netip.Prefix {
	left := make(tally)
	for p := range t {
		if _, ok := o[p]; !ok {
			left[p] = struct{}{}
		}
	}
	return left.prefixes()
}

// prefixes returns the tally sorted.
func (t tally) prefixes() []netip.Prefix {
	list := make([]netip.Prefix, 0, len(t))
	for p := range t {
		list = append(list, p)
	}
	slices.SortFunc(list, comparePrefix)
	return list
}
