package netlinkx

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// forever is the kernel's INFINITY_LIFE_TIME. The library keeps lifetimes in an
// int, which cannot hold it on a 32 bit box; hence addresses are written by
// requests of our own.
const forever = ^uint32(0)

// How long to wait for the kernel's worker that makes an IPv6 address local,
// and how long between looks.
const (
	localWait = 50 * time.Millisecond
	localStep = 200 * time.Microsecond
)

// dump reads the addresses of a link, or of all links for nil.
func (r *rtnl) dump(link netlink.Link) ([]netlink.Addr, error) {
	var list []netlink.Addr
	err := retry(func() (err error) {
		list, err = r.handle.AddrList(link, netlink.FAMILY_ALL)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("failed to read addresses: %w", err)
	}
	return list, nil
}

// hostAddresses returns the host addresses of the link of that index.
func hostAddresses(list []netlink.Addr, index int) []Address {
	var found []Address
	for _, a := range list {
		if p, ok := prefixOf(a); ok && a.LinkIndex == index && p.IsSingleIP() {
			found = append(found, Address{Prefix: p, Usable: usable(a), Right: right(p, a)})
		}
	}
	return found
}

// prefixOf returns a's address with its prefix length.
func prefixOf(a netlink.Addr) (netip.Prefix, bool) {
	if a.IPNet == nil {
		return netip.Prefix{}, false
	}
	ip, ok := netip.AddrFromSlice(a.IP)
	ones, _ := a.Mask.Size()
	return netip.PrefixFrom(ip.Unmap(), ones), ok
}

// usable says whether the kernel answers for a: neither tentative nor found to
// be a duplicate (RFC 4862, 5.4).
func usable(a netlink.Addr) bool {
	return a.Flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) == 0
}

// right says whether a is never a source address by preference and never
// expires. IPv4 knows no preferred lifetime.
func right(p netip.Prefix, a netlink.Addr) bool {
	return p.Addr().Is4() || a.PreferedLft == 0 && a.Flags&unix.IFA_F_PERMANENT != 0
}

// applyAddress adds or deletes an address, or does the one after the other.
func (r *rtnl) applyAddress(op Op) error {
	link := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: op.Link, Index: op.Index}}
	if op.Index == 0 {
		made, err := r.handle.LinkByName(op.Link)
		if err != nil {
			return err
		}
		link.Index = made.Attrs().Index
	}
	if op.Verb != AddAddress {
		err := r.request(unix.RTM_DELADDR, 0, addressData(link.Index, op.Prefix)...)
		gone := op.Verb == RepairAddress && errors.Is(err, unix.EADDRNOTAVAIL)
		if err != nil && !gone || op.Verb == DeleteAddress {
			return err
		}
	}
	err := r.request(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		addressData(link.Index, op.Prefix)...)
	if err == nil {
		r.awaitLocal(op.Prefix.Addr())
	}
	return err
}

// awaitLocal waits until the kernel takes packets to a for its own. For IPv6 a
// worker of the kernel's sees to that, even without duplicate address
// detection, up to a millisecond after the address was added; a first probe
// sent at once would be lost. It gives up silently after localWait.
func (r *rtnl) awaitLocal(a netip.Addr) {
	deadline := time.Now().Add(localWait)
	for a.Is6() && !r.isLocal(a) && time.Now().Before(deadline) {
		time.Sleep(localStep)
	}
}

// isLocal says whether the kernel's route to an IPv6 address is to itself.
func (r *rtnl) isLocal(a netip.Addr) bool {
	msg := nl.NewRtMsg()
	msg.Family, msg.Dst_len = nl.FAMILY_V6, uint8(a.BitLen())
	answers, err := r.ask(unix.RTM_GETROUTE, 0, unix.RTM_NEWROUTE, msg,
		nl.NewRtAttr(unix.RTA_DST, a.AsSlice()))
	return err == nil && len(answers) > 0 && nl.DeserializeRtMsg(answers[0]).Type == unix.RTN_LOCAL
}

// addressData describes p on the link. An IPv6 address is used at once, without
// duplicate address detection, as every node has it; and it is never preferred
// (RFC 4862, 5.5.4), so that the node does not send its own queries from an
// address whose answers may reach another node.
func addressData(index int, p netip.Prefix) []nl.NetlinkRequestData {
	msg := nl.NewIfAddrmsg(nl.FAMILY_V4)
	msg.Index, msg.Prefixlen = uint32(index), uint8(p.Bits())
	ip := p.Addr().AsSlice()
	data := []nl.NetlinkRequestData{msg, nl.NewRtAttr(unix.IFA_LOCAL, ip),
		nl.NewRtAttr(unix.IFA_ADDRESS, ip)}
	if p.Addr().Is4() {
		return data
	}
	msg.Family, msg.Flags = nl.FAMILY_V6, unix.IFA_F_NODAD
	life := nl.IfaCacheInfo{IfaCacheinfo: unix.IfaCacheinfo{Prefered: 0, Valid: forever}}
	return append(data, nl.NewRtAttr(unix.IFA_CACHEINFO, life.Serialize()))
}
