package bgp

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"
)

// maxSeen bounds the memory of a view: the fuse on prefixes, both families,
// with a few paths of each.
const maxSeen = 8 * maxPrefixes

// A router says End-of-RIB only if graceful restart was negotiated (FRR), or
// is not switched off (BIRD), and we never offer it. So a silence of quietRIB
// since Established counts as well: FRR sends its table within its coalesce
// time of 1 s, BIRD at once. A router that never falls silent is believed
// after mostRIB.
const (
	quietRIB = 3 * time.Second
	mostRIB  = 15 * time.Second
)

// moreRIB returns how long to wait until the silence of a router may count as
// End-of-RIB; zero: it counts now. All three are points in time, last is that
// of its last UPDATE.
func moreRIB(established, last, now time.Time) time.Duration {
	quiet := established.Add(quietRIB)
	if last.After(established) {
		quiet = last.Add(quietRIB)
	}
	if most := established.Add(mostRIB); most.Before(quiet) {
		quiet = most
	}
	return max(quiet.Sub(now), 0)
}

// node is an agent as its mark tells it.
type node struct {
	asn uint32
	id  netip.Addr
}

// view is what one router sends us in one session: the routes that bear the
// mark of another node, and which bear none. Nothing of it is installed or
// passed on.
type view struct {
	self       node
	routes     map[nlri]Seen
	bare       map[nlri]bool // routes without a valid mark
	end4, end6 bool
	// served are the prefixes of which it has shown a full route.
	served map[netip.Prefix]bool
}

// newView returns the view of a session that has just begun.
func newView(self node) view {
	return view{self: self, routes: make(map[nlri]Seen), bare: make(map[nlri]bool),
		served: make(map[netip.Prefix]bool)}
}

// received applies one UPDATE. changed says that others are seen differently,
// marked that a route of it had a valid mark, ours or another's. A malformed
// one withdraws what it names (RFC 7606, section 2), but that is not the
// router's word that nobody serves it.
func (v *view) received(r reading, malformed bool) (changed, marked bool) {
	v.end4, v.end6 = v.end4 || r.end4, v.end6 || r.end6
	for _, n := range r.withdrawn {
		changed = v.drop(n) || changed
	}
	if malformed {
		for _, n := range slices.Concat(r.withdrawn, r.announced) {
			delete(v.served, n.Prefix)
		}
	}
	for _, n := range slices.Concat(r.withdrawn, r.announced) {
		delete(v.bare, n)
	}
	m, ok := r.mark(v.self.asn)
	marked = ok && !malformed && len(r.announced) > 0
	for _, n := range r.announced {
		if !marked && !malformed && len(v.bare) < maxSeen {
			v.bare[n] = true
		}
		if !marked || m.node == v.self.id {
			changed = v.drop(n) || changed
			continue
		}
		s := Seen{Prefix: n.Prefix, Node: m.node, Depreferred: m.depreferred}
		changed = v.keep(n, s) || changed
	}
	return changed, marked
}

// drop forgets a route and reports whether it was another node's.
func (v *view) drop(n nlri) bool {
	_, ok := v.routes[n]
	delete(v.routes, n)
	return ok
}

// keep notes a route of another node and reports whether it is news.
func (v *view) keep(n nlri, s Seen) bool {
	was, ok := v.routes[n]
	if ok && was == s || !ok && len(v.routes) >= maxSeen {
		return false
	}
	v.routes[n] = s
	if !s.Depreferred && len(v.served) < maxSeen {
		v.served[s.Prefix] = true
	}
	return true
}

// gone lists the prefixes of which the router has shown a full route and shows
// none now, sorted.
func (v *view) gone() []netip.Prefix {
	still := make(map[netip.Prefix]bool)
	for _, s := range v.routes {
		still[s.Prefix] = still[s.Prefix] || !s.Depreferred
	}
	var list []netip.Prefix
	for p := range v.served {
		if !still[p] {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, comparePrefix)
	return list
}

// unmarked reports whether a route without a mark leads to one of ours.
func (v *view) unmarked(ours tally) bool {
	for n := range v.bare {
		if _, ok := ours[n.Prefix]; ok {
			return true
		}
	}
	return false
}

// ended reports whether the router has said End-of-RIB for each family that
// it speaks.
func (v *view) ended(o open) bool { return (v.end4 || !o.v4) && (v.end6 || !o.v6) }

// seen lists the view. A node that is seen by several paths to one prefix
// counts as announced if any of them does.
func (v *view) seen() []Seen {
	var list []Seen
	for _, s := range v.routes {
		list = append(list, s)
	}
	slices.SortFunc(list, compareSeen)
	return slices.CompactFunc(list, func(a, b Seen) bool { return a.Prefix == b.Prefix && a.Node == b.Node })
}

// compareSeen orders by prefix, node, and the better one first.
func compareSeen(a, b Seen) int {
	if c := cmp.Or(comparePrefix(a.Prefix, b.Prefix), a.Node.Compare(b.Node)); c != 0 {
		return c
	}
	switch {
	case a.Depreferred == b.Depreferred:
		return 0
	case b.Depreferred:
		return -1
	}
	return 1
}

// marked is the content of a mark.
type marked struct {
	node        netip.Addr
	depreferred bool
}

// mark finds the first valid mark among the large communities: its first field
// is the origin AS of the route, which for an empty path is ours. One that
// names another AS was made up, or the path was.
func (r reading) mark(ours uint32) (marked, bool) {
	asn := r.origin.asn
	if r.origin.empty {
		asn = ours
	}
	for _, l := range r.larges {
		if l[0] != asn || asn == 0 || l[2] != markFull && l[2] != markDepreferred {
			continue
		}
		var id [4]byte
		binary.BigEndian.PutUint32(id[:], l[1])
		return marked{netip.AddrFrom4(id), l[2] == markDepreferred}, true
	}
	return marked{}, false
}
