package netlinktest

import (
	"errors"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
)

// strangeMAC is the hardware address of a link that no holder made.
var strangeMAC = net.HardwareAddr{0x02, 0, 0, 0, 0, 0x01}

// Box is a holder on the real kernel, in the network namespace of the thread
// that made it, with the hooks and the rendering of a Fake. It reads and writes
// by ways of its own, not by the holder's. It belongs to one thread.
type Box struct {
	*netlinkx.Holder
	counter *counter
	t       TB
	name    string
}

// counter counts the steps that a holder asks of the kernel.
type counter struct {
	netlinkx.Kernel
	writes int
}

// Apply implements netlinkx.Kernel.
func (c *counter) Apply(op netlinkx.Op) error {
	c.writes++
	return c.Kernel.Apply(op)
}

// NewBox returns a Box for c. Call NewNS before.
func NewBox(t TB, c netlinkx.Config) *Box {
	t.Helper()
	k, err := netlinkx.NewKernel()
	if err != nil {
		t.Fatalf("netlinktest: failed to reach the kernel: %v", err)
	}
	count := &counter{Kernel: k}
	h, err := netlinkx.On(c, count)
	if err != nil {
		t.Fatalf("netlinktest: invalid configuration: %v", err)
	}
	return &Box{Holder: h, counter: count, t: t, name: c.Link}
}

// Writes returns how many steps the holder has asked of the kernel so far.
func (b *Box) Writes() int { return b.counter.writes }

// must fails the test if what the operator did went wrong.
func (b *Box) must(what string, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("netlinktest: operator cannot %s on link %q: %v", what, b.name, err)
	}
}

// link returns the link, which must exist.
func (b *Box) link() netlink.Link {
	b.t.Helper()
	l, err := netlink.LinkByName(b.name)
	b.must("find it", err)
	return l
}

// SetUp does `ip link set LINK up`.
func (b *Box) SetUp() { b.must("set up", netlink.LinkSetUp(b.link())) }

// SetDown does `ip link set LINK down`.
func (b *Box) SetDown() { b.must("set down", netlink.LinkSetDown(b.link())) }

// DeleteLink does `ip link delete LINK`.
func (b *Box) DeleteLink() { b.must("delete", netlink.LinkDel(b.link())) }

// AddLink does `ip link add LINK type KIND`, and sets the alias if it has one.
func (b *Box) AddLink(kind, alias string) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr = b.name, strangeMAC
	link := &netlink.GenericLink{LinkAttrs: attrs, LinkType: kind}
	b.must("add "+kind, netlink.LinkAdd(link))
	if alias != "" {
		b.must("set the alias", netlink.LinkSetAlias(link, alias))
	}
}

// AddAddress does `ip address add ADDRESS dev LINK nodad`.
func (b *Box) AddAddress(p netip.Prefix) {
	a := addr(p)
	if p.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	b.must("add "+p.String(), netlink.AddrAdd(b.link(), a))
}

// DeleteAddress does `ip address delete ADDRESS dev LINK`.
func (b *Box) DeleteAddress(p netip.Prefix) {
	b.must("delete "+p.String(), netlink.AddrDel(b.link(), addr(p)))
}

// DeleteGuard does `ip route delete unreachable ADDRESS`.
func (b *Box) DeleteGuard(p netip.Prefix) {
	route := &netlink.Route{Dst: addr(p).IPNet, Protocol: netlinkx.GuardProtocol}
	b.must("delete the route to "+p.String(), netlink.RouteDel(route))
}

// String renders the link and every unreachable IPv6 route of the namespace,
// those of the kernel's own left out. It is what Fake's String is.
func (b *Box) String() string {
	found, err := whole(func() (netlink.Link, error) { return netlink.LinkByName(b.name) })
	var l netlinkx.Link
	if !errors.As(err, new(netlink.LinkNotFoundError)) {
		b.must("read it", err)
		a := found.Attrs()
		l = netlinkx.Link{Exists: true, Kind: found.Type(), Alias: a.Alias, Up: a.Flags&net.FlagUp != 0}
		l.Addresses = b.addresses(found)
	}
	return render(b.name, l, b.guards())
}

// addresses returns the addresses of global scope on the link.
func (b *Box) addresses(l netlink.Link) []netlinkx.Address {
	list, err := whole(func() ([]netlink.Addr, error) {
		return netlink.AddrList(l, netlink.FAMILY_ALL)
	})
	b.must("read its addresses", err)
	var all []netlinkx.Address
	for _, a := range list {
		if a.Scope != unix.RT_SCOPE_UNIVERSE || a.IP.IsLoopback() {
			continue
		}
		p := prefix(a.IPNet)
		all = append(all, netlinkx.Address{Prefix: p,
			Usable: a.Flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) == 0,
			Right:  p.Addr().Is4() || a.Flags&unix.IFA_F_DEPRECATED != 0 && a.PreferedLft == 0})
	}
	return all
}

// guards returns the unreachable IPv6 routes of the main table.
func (b *Box) guards() []netip.Prefix {
	routes, err := whole(func() ([]netlink.Route, error) {
		return netlink.RouteList(nil, netlink.FAMILY_V6)
	})
	b.must("read the routes", err)
	var all []netip.Prefix
	for _, r := range routes {
		if r.Type == unix.RTN_UNREACHABLE && r.Dst != nil {
			all = append(all, prefix(r.Dst))
		}
	}
	return all
}

// whole repeats a dump that a change of the kernel's tables has interrupted. A
// test that polls while an agent writes meets that often.
func whole[T any](dump func() (T, error)) (T, error) {
	const tries = 100
	v, err := dump()
	for i := 1; i < tries && errors.Is(err, netlink.ErrDumpInterrupted); i++ {
		v, err = dump()
	}
	return v, err
}

// addr returns p as the library wants it.
func addr(p netip.Prefix) *netlink.Addr {
	mask := net.CIDRMask(p.Bits(), p.Addr().BitLen())
	return &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: mask}}
}

// prefix is the inverse of addr.
func prefix(n *net.IPNet) netip.Prefix {
	ip, _ := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(ip.Unmap(), ones)
}
