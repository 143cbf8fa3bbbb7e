package bgp

import (
	"net/netip"
	"slices"
)

// tally is the set of prefixes that a router holds from us, kept by reading
// our own UPDATEs after they were written to it.
type tally map[netip.Prefix]struct{}

// sent counts what one UPDATE said that was written to the router, and reports
// whether the tally changed.
func (t tally) sent(r reading) bool {
	changed := false
	for _, p := range r.withdrawn {
		if _, ok := t[p.Prefix]; ok {
			delete(t, p.Prefix)
			changed = true
		}
	}
	for _, p := range r.announced {
		if _, ok := t[p.Prefix]; !ok {
			t[p.Prefix] = struct{}{}
			changed = true
		}
	}
	return changed
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
