package topology

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// dumpTries is how often a dump that the kernel interrupted is repeated.
const dumpTries = 5

// NextHops are the next hops of a prefix in the host's kernel, sorted; none if
// it has no such route. Of routes with different metrics the best counts.
func (h *Host) NextHops(prefix netip.Prefix) ([]netip.Addr, error) {
	t, err := h.table()
	if err != nil {
		return nil, err
	}
	return t.hops(prefix.Masked()), nil
}

// table reads the host's main table.
func (h *Host) table() (table, error) {
	t := table{}
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := h.dump(family)
		if err != nil {
			return nil, fmt.Errorf("failed to read routes of %s: %w", h.ShortName, err)
		}
		for _, r := range routes {
			t.apply(unix.RTM_NEWROUTE, &r)
		}
	}
	return t, nil
}

// dump lists the main table's routes of one family.
func (h *Host) dump(family int) (routes []netlink.Route, err error) {
	filter := &netlink.Route{Table: unix.RT_TABLE_MAIN}
	for range dumpTries {
		routes, err = h.link.RouteListFiltered(family, filter, netlink.RT_FILTER_TABLE)
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return routes, err
}

// slot is where the kernel keeps one route.
type slot struct {
	prefix netip.Prefix
	metric int
}

// table is a main table: the next hops of every route that has any.
type table map[slot][]netip.Addr

// apply takes one message of the kernel into the table and returns the prefix
// that it is about; false if it is none of the main table's. A new route's
// message has all its next hops. A deleted one's has those that go: IPv6 may
// lose one of several.
func (t table) apply(kind uint16, r *netlink.Route) (netip.Prefix, bool) {
	prefix, ok := prefixOf(r.Dst)
	if !ok || r.Table != unix.RT_TABLE_MAIN {
		return netip.Prefix{}, false
	}
	at, hops := slot{prefix, r.Priority}, gateways(r)
	if kind == unix.RTM_DELROUTE {
		hops = slices.DeleteFunc(slices.Clone(t[at]), func(a netip.Addr) bool {
			return len(hops) == 0 || slices.Contains(hops, a)
		})
	}
	if len(hops) == 0 {
		delete(t, at)
	} else {
		t[at] = hops
	}
	return prefix, true
}

// hops are the next hops of a prefix: those of its best metric.
func (t table) hops(prefix netip.Prefix) []netip.Addr {
	var best *slot
	for at := range t {
		if at.prefix == prefix && (best == nil || at.metric < best.metric) {
			best = &at
		}
	}
	if best == nil {
		return nil
	}
	return slices.Clone(t[*best])
}

// gateways are the next hops of one route, sorted.
func gateways(r *netlink.Route) []netip.Addr {
	var hops []netip.Addr
	add := func(gw net.IP, via netlink.Destination) {
		if v, ok := via.(*netlink.Via); ok {
			gw = v.Addr
		}
		if a, ok := netip.AddrFromSlice(gw); ok {
			hops = append(hops, a.Unmap())
		}
	}
	add(r.Gw, r.Via)
	for _, m := range r.MultiPath {
		add(m.Gw, m.Via)
	}
	slices.SortFunc(hops, netip.Addr.Compare)
	return slices.Compact(hops)
}

// prefixOf converts a destination; a default route's may be absent.
func prefixOf(n *net.IPNet) (netip.Prefix, bool) {
	if n == nil {
		return netip.Prefix{}, false
	}
	a, ok := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(a.Unmap(), ones), ok
}
