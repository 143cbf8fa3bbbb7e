package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// dumpTries is how often a dump that the kernel interrupted is repeated.
const dumpTries = 5

// NextHops are the next hops of a prefix in the host's kernel, sorted; none if
// it has no such route.
func (h *Host) NextHops(prefix netip.Prefix) ([]netip.Addr, error) {
	filter := &netlink.Route{Dst: ipNet(prefix), Table: unix.RT_TABLE_MAIN}
	family := netlink.FAMILY_V4
	if prefix.Addr().Is6() {
		family = netlink.FAMILY_V6
	}
	var routes []netlink.Route
	var err error
	for range dumpTries {
		routes, err = h.link.RouteListFiltered(family, filter, netlink.RT_FILTER_DST|netlink.RT_FILTER_TABLE)
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read routes of %s: %w", h.ShortName, err)
	}
	var hops []netip.Addr
	for _, r := range routes {
		hops = append(hops, gateways(&r)...)
	}
	slices.SortFunc(hops, netip.Addr.Compare)
	return slices.Compact(hops), nil
}

// gateways are the next hops of one route.
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
	return hops
}

// RouteEvent is a change of a route in a host's kernel.
type RouteEvent struct {
	At       time.Time // when the kernel's message was read, with a monotonic reading
	Prefix   netip.Prefix
	NextHops []netip.Addr // the route's next hops after it, sorted; none: the route is gone
}

// Watch tells every change of the host's main table until ctx ends. The channel
// is closed then, or when the kernel's messages were lost. Next hops are read
// again at each message, since the kernel tells of IPv6 next hops one by one.
func (h *Host) Watch(ctx context.Context) (<-chan RouteEvent, error) {
	updates := make(chan netlink.RouteUpdate, 256)
	// Errors end the stream, which closes updates; there is nothing to add.
	err := netlink.RouteSubscribeWithOptions(updates, ctx.Done(), netlink.RouteSubscribeOptions{
		Namespace:              &h.handle,
		ErrorCallback:          func(error) {},
		ReceiveBufferSize:      1 << 20,
		ReceiveBufferForceSize: true,
	})
	if err != nil {
		return nil, fmt.Errorf("failed to watch routes of %s: %w", h.ShortName, err)
	}
	events := make(chan RouteEvent, 256)
	go h.relay(ctx, updates, events)
	return events, nil
}

// relay turns updates into events.
func (h *Host) relay(ctx context.Context, updates <-chan netlink.RouteUpdate, events chan<- RouteEvent) {
	defer close(events)
	for u := range updates {
		at := time.Now()
		prefix, ok := prefixOf(u.Dst)
		if u.Table != unix.RT_TABLE_MAIN || !ok {
			continue
		}
		hops, err := h.NextHops(prefix)
		if err != nil {
			continue
		}
		select {
		case events <- RouteEvent{At: at, Prefix: prefix, NextHops: hops}:
		case <-ctx.Done():
			// Drain, or the library's reader would wait for ever.
			for range updates {
				continue
			}
			return
		}
	}
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
