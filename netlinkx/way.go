package netlinkx

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// ErrNoWay tells that the kernel has no route to an address.
var ErrNoWay = errors.New("no route")

// Way is how the kernel would send a packet to an address.
type Way struct {
	Link    string     // by which it would leave
	Gateway netip.Addr // zero: the address is on the link
	Source  netip.Addr // that it would bear; zero if the kernel did not say
	Local   bool       // the address is this box's own
}

// WayTo asks the kernel, in the network namespace of the calling thread, how it
// would send to an address; nothing is sent. An address with a zone is looked
// for on that link. The error is ErrNoWay where there is no route.
func WayTo(to netip.Addr) (Way, error) {
	routes, err := netlink.RouteGetWithOptions(to.WithZone("").AsSlice(),
		&netlink.RouteGetOptions{Oif: to.Zone()})
	switch {
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH),
		errors.As(err, new(netlink.LinkNotFoundError)):
		return Way{}, fmt.Errorf("%w to %s: %w", ErrNoWay, to, err)
	case err != nil:
		return Way{}, fmt.Errorf("failed to ask for the route to %s: %w", to, err)
	case len(routes) == 0:
		return Way{}, fmt.Errorf("%w to %s", ErrNoWay, to)
	}
	return wayOf(to, routes[0])
}

// wayOf puts the kernel's answer into our words.
func wayOf(to netip.Addr, r netlink.Route) (Way, error) {
	switch r.Type {
	case unix.RTN_UNREACHABLE, unix.RTN_BLACKHOLE, unix.RTN_PROHIBIT:
		return Way{}, fmt.Errorf("%w to %s: the one there is refuses it", ErrNoWay, to)
	}
	l, err := net.InterfaceByIndex(r.LinkIndex)
	if err != nil {
		return Way{}, fmt.Errorf("failed to name the link of the route to %s: %w", to, err)
	}
	w := Way{Link: l.Name, Local: r.Type == unix.RTN_LOCAL}
	gateway := r.Gw
	if via, ok := r.Via.(*netlink.Via); ok { // IPv4 by an IPv6 router (RFC 5549)
		gateway = via.Addr
	}
	w.Gateway, w.Source = addrOf(gateway), addrOf(r.Src)
	return w, nil
}

// addrOf is zero for no address.
func addrOf(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}
