package bgp

import (
	"errors"
	"fmt"
	"net/netip"
)

// hops are the next hops of one session, by family. A family with an error
// has none: its routes are withheld.
type hops struct {
	v4, v6       netip.Addr
	errV4, errV6 error
}

// same reports whether h and o announce alike.
func (h hops) same(o hops) bool { return h.v4 == o.v4 && h.v6 == o.v6 }

// family returns the next hop for a prefix, or the error that withholds it.
func (h hops) family(p netip.Prefix) (netip.Addr, error) {
	if p.Addr().Is4() {
		return h.v4, h.errV4
	}
	return h.v6, h.errV6
}

// withheld joins the errors that matter for these prefixes.
func (h hops) withheld(announced []netip.Prefix) error {
	var errs [2]error
	for _, p := range announced {
		_, err := h.family(p)
		if p.Addr().Is4() {
			errs[0] = err
		} else {
			errs[1] = err
		}
	}
	return errors.Join(errs[:]...)
}

// Withheld says which of these prefixes' families could not be announced to p in
// a session that starts at local, and why: what a session would tell once it is
// there, as far as it does not hang on the router. Nil: none.
func (p Peer) Withheld(local netip.Addr, announced []netip.Prefix) error {
	p = p.withDefaults()
	present := withoutService(interfaceAddrs(p.Interface, local), announced)
	return chooseHops(p, local, present, open{v4: true, v6: true, extendedHop: true}).withheld(announced)
}

// chooseHops picks the next hops for a session with p that starts at local.
// present are the addresses of the interface that holds local (or of
// p.Interface), without service addresses; o is what the router can do.
//
// The family of the session uses local. The other one must be named or
// obvious: "::" or an IPv4 address in IPv6 form is what routers accept in BGP
// and refuse in the kernel, a hole without a sign.
func chooseHops(p Peer, local netip.Addr, present []netip.Addr, o open) hops {
	h := hops{v4: p.NextHopV4, v6: p.NextHopV6}
	local = local.Unmap().WithZone("")
	if local.Is4() {
		if !h.v4.IsValid() {
			h.v4 = local
		}
		if !h.v6.IsValid() {
			h.v6, h.errV6 = sole(present, "IPv6", "next_hop_v6", netip.Addr.Is6)
		}
		return h.negotiated(o)
	}
	if !h.v6.IsValid() {
		h.v6 = local
	}
	if !h.v4.IsValid() {
		h.v4, h.errV4 = sole(present, "IPv4", "next_hop_v4", netip.Addr.Is4)
	}
	if h.errV4 != nil && o.extendedHop { // RFC 8950
		h.v4, h.errV4 = h.v6, nil
	}
	return h.negotiated(o)
}

// negotiated takes away the families that the router has not activated.
func (h hops) negotiated(o open) hops {
	const off = "%s routes withheld: the router has not activated %s unicast for this neighbour"
	if !o.v4 {
		h.v4, h.errV4 = netip.Addr{}, fmt.Errorf(off, "IPv4", "IPv4")
	}
	if !o.v6 {
		h.v6, h.errV6 = netip.Addr{}, fmt.Errorf(off, "IPv6", "IPv6")
	}
	return h
}

// sole returns the one global address of a family, or an error that names the
// setting that decides it.
func sole(present []netip.Addr, family, key string, is func(netip.Addr) bool) (netip.Addr, error) {
	var found []netip.Addr
	for _, a := range present {
		if is(a) && a.IsGlobalUnicast() {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return netip.Addr{}, fmt.Errorf("%s routes withheld: no next hop, since the interface of the session has no global %s address: give it one or set %s", family, family, key)
	}
	return netip.Addr{}, fmt.Errorf("%s routes withheld: no next hop, since the interface of the session has %d global %s addresses (%s, %s): set %s", family, len(found), family, found[0], found[1], key)
}
