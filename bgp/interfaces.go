package bgp

import (
	"net"
	"net/netip"
	"slices"
)

// interfaceAddrs returns the addresses of the interface of that name or, if it
// is empty, of the one that holds local. What cannot be read counts as absent:
// it is looked at again soon.
func interfaceAddrs(name string, local netip.Addr) []netip.Addr {
	links, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, l := range links {
		if name != "" && l.Name != name {
			continue
		}
		addrs := linkAddrs(l)
		if name != "" || slices.Contains(addrs, local.WithZone("")) {
			return addrs
		}
	}
	return nil
}

// linkAddrs returns the addresses of one interface, without zones.
func linkAddrs(l net.Interface) []netip.Addr {
	prefixes, err := l.Addrs()
	if err != nil {
		return nil
	}
	var list []netip.Addr
	for _, p := range prefixes {
		n, ok := p.(*net.IPNet)
		if !ok {
			continue
		}
		if a, ok := netip.AddrFromSlice(n.IP); ok {
			list = append(list, a.Unmap())
		}
	}
	return list
}

// withoutService drops the addresses that a route announces: a service
// address on the uplink is no next hop. If nothing is left, nothing is
// dropped.
func withoutService(present []netip.Addr, announced []netip.Prefix) []netip.Addr {
	kept := slices.DeleteFunc(slices.Clone(present), func(a netip.Addr) bool {
		return slices.ContainsFunc(announced, func(p netip.Prefix) bool { return p.Contains(a) })
	})
	if len(kept) == 0 {
		return present
	}
	return kept
}
