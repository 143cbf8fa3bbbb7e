package netlinkx

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// GuardProtocol is the origin written on our routes (rtm_protocol), by which
// Remove knows them. The kernel's headers and iproute2's list name no 137.
const GuardProtocol = 137

// guardMetric is the worst metric, so that any other route to the address wins.
const guardMetric = ^uint32(0)

// Guards implements Kernel.
func (r *rtnl) Guards() ([]netip.Prefix, error) {
	filter := &netlink.Route{Protocol: GuardProtocol, Type: unix.RTN_UNREACHABLE}
	var list []netlink.Route
	err := retry(func() (err error) {
		list, err = r.handle.RouteListFiltered(netlink.FAMILY_V6, filter,
			netlink.RT_FILTER_PROTOCOL|netlink.RT_FILTER_TYPE)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("failed to read the unreachable IPv6 routes: %w", err)
	}
	var found []netip.Prefix
	for _, route := range list {
		if uint32(route.Priority) != guardMetric || route.Dst == nil {
			continue
		}
		ip, ok := netip.AddrFromSlice(route.Dst.IP)
		if ones, _ := route.Dst.Mask.Size(); ok {
			found = append(found, netip.PrefixFrom(ip, ones))
		}
	}
	return found, nil
}

// applyGuard adds or deletes an unreachable route. The kernel hangs it on the
// loopback, so it outlives the service's link.
func (r *rtnl) applyGuard(op Op) error {
	msg := nl.NewRtMsg()
	msg.Family, msg.Dst_len = nl.FAMILY_V6, uint8(op.Prefix.Bits())
	msg.Type, msg.Protocol = unix.RTN_UNREACHABLE, GuardProtocol
	data := []nl.NetlinkRequestData{msg,
		nl.NewRtAttr(unix.RTA_DST, op.Prefix.Addr().AsSlice()),
		nl.NewRtAttr(unix.RTA_PRIORITY, nl.Uint32Attr(guardMetric))}
	if op.Verb == DeleteGuard {
		return r.request(unix.RTM_DELROUTE, 0, data...)
	}
	return r.request(unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL, data...)
}
