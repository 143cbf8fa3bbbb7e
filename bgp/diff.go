package bgp

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// routeSet is what is announced: prefix to "depreferred".
type routeSet map[netip.Prefix]bool

// newRouteSet checks routes and puts them into a set.
func newRouteSet(routes []Route) (routeSet, error) {
	set := make(routeSet, len(routes))
	for _, r := range routes {
		if !r.Prefix.IsValid() || r.Prefix != r.Prefix.Masked() || r.Prefix.Addr().Is4In6() {
			return nil, fmt.Errorf("failed to announce %s: not a masked IPv4 or IPv6 prefix", r.Prefix)
		}
		if was, ok := set[r.Prefix]; ok && was != r.Depreferred {
			return nil, fmt.Errorf("failed to announce %s: named twice, once depreferred and once not", r.Prefix)
		}
		set[r.Prefix] = r.Depreferred
	}
	return set, nil
}

// prefixes returns the set without its values, in no order.
func (r routeSet) prefixes() []netip.Prefix {
	list := make([]netip.Prefix, 0, len(r))
	for p := range r {
		list = append(list, p)
	}
	return list
}

// diff returns what turns have into want: the withdrawals, and the routes that
// are new or changed, both sorted.
func diff(have, want routeSet) (withdraw []netip.Prefix, announce []Route) {
	for p := range have {
		if _, ok := want[p]; !ok {
			withdraw = append(withdraw, p)
		}
	}
	for p, depreferred := range want {
		if was, ok := have[p]; !ok || was != depreferred {
			announce = append(announce, Route{Prefix: p, Depreferred: depreferred})
		}
	}
	slices.SortFunc(withdraw, comparePrefix)
	slices.SortFunc(announce, func(a, b Route) int { return comparePrefix(a.Prefix, b.Prefix) })
	return withdraw, announce
}

// comparePrefix orders by address, IPv4 first, then by length.
func comparePrefix(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}
