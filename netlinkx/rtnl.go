package netlinkx

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// noLinkLocal is IN6_ADDR_GEN_MODE_NONE.
const noLinkLocal = 1

// dumpTries bounds the attempts at a dump that changes interrupt.
const dumpTries = 8

// rtnl is the real kernel, through rtnetlink. Its sockets stay in the network
// namespace in which they were made, and are closed by the garbage collector.
type rtnl struct {
	handle  *netlink.Handle
	sockets map[int]*nl.SocketHandle // for requests that handle cannot express
}

// NewKernel returns the real kernel, in the network namespace of the calling
// thread. It fails where no netlink socket can be had.
func NewKernel() (Kernel, error) {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("failed to open a netlink socket: %w", err)
	}
	// Strict checking makes the kernel filter dumps for us: on a box with the
	// internet's routing table that is a few routes in place of all. Kernels
	// before 4.20 do not know it, and the answers are filtered here anyway.
	_ = h.SetStrictCheck(true)
	s, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("failed to open a netlink socket: %w", err)
	}
	return &rtnl{handle: h, sockets: map[int]*nl.SocketHandle{unix.NETLINK_ROUTE: {Socket: s}}}, nil
}

// retry repeats a dump that changes interrupted, since its answer may lack what
// is there. It gives up after dumpTries.
func retry(dump func() error) error {
	var err error
	for range dumpTries {
		if err = dump(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			return err
		}
	}
	return fmt.Errorf("%d times in a row: %w", dumpTries, err)
}

// Link implements Kernel.
func (r *rtnl) Link(name string) (Link, error) {
	var found netlink.Link
	err := retry(func() (err error) {
		found, err = r.handle.LinkByName(name)
		return err
	})
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		return Link{}, nil
	}
	if err != nil {
		return Link{}, fmt.Errorf("failed to read link %q: %w", name, err)
	}
	l := linkOf(found)
	list, err := r.dump(found)
	l.Addresses = hostAddresses(list, l.Index)
	return l, err
}

// Links implements Kernel.
func (r *rtnl) Links() ([]Link, error) {
	var list []netlink.Link
	err := retry(func() (err error) {
		list, err = r.handle.LinkList()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("failed to read the box's links: %w", err)
	}
	addrs, err := r.dump(nil)
	if err != nil {
		return nil, err
	}
	var all []Link
	for _, found := range list {
		l := linkOf(found)
		l.Addresses = hostAddresses(addrs, l.Index)
		all = append(all, l)
	}
	return all, nil
}

// linkOf is a link without its addresses.
func linkOf(found netlink.Link) Link {
	a := found.Attrs()
	return Link{Exists: true, Name: a.Name, Index: a.Index, Kind: found.Type(), Alias: a.Alias,
		Hardware: a.HardwareAddr.String(), Up: a.RawFlags&unix.IFF_UP != 0}
}

// Apply implements Kernel.
func (r *rtnl) Apply(op Op) error {
	link := &netlink.GenericLink{LinkAttrs: netlink.NewLinkAttrs(), LinkType: op.Kind}
	link.Name, link.Index = op.Link, op.Index
	switch op.Verb {
	case CreateLink:
		return r.create(link, op.Hardware)
	case MarkLink:
		return r.handle.LinkSetAlias(link, op.Alias)
	case SetLinkUp:
		return r.handle.LinkSetUp(link)
	case SetLinkDown:
		return r.handle.LinkSetDown(link)
	case DeleteLink:
		return r.handle.LinkDel(link)
	case AddAddress, RepairAddress, DeleteAddress:
		return r.applyAddress(op)
	case AddGuard, DeleteGuard:
		return r.applyGuard(op)
	}
	return fmt.Errorf("unknown step %s", op)
}

// create makes the link, down. It is told to give itself no link-local address:
// nobody is on the link to talk to, and software that binds to every address of
// a box, or announces its own, would pick it up. A kernel without IPv6 cannot
// be told, and need not be.
func (r *rtnl) create(link *netlink.GenericLink, hardware string) error {
	mac, err := net.ParseMAC(hardware)
	if err != nil {
		return err
	}
	link.HardwareAddr = mac
	if err := r.handle.LinkAdd(link); err != nil {
		return err
	}
	_ = r.handle.LinkSetIP6AddrGenMode(link, noLinkLocal)
	return nil
}

// Lock implements Kernel.
func (r *rtnl) Lock(name string) (io.Closer, error) { return lockName(name) }

// request sends one request of our own making and waits for its
// acknowledgement.
func (r *rtnl) request(kind, flags int, data ...nl.NetlinkRequestData) error {
	_, err := r.ask(kind, flags, 0, data...)
	return err
}

// ask is request for one whose answers, of the type, are wanted.
func (r *rtnl) ask(kind, flags int, answer uint16, data ...nl.NetlinkRequestData) ([][]byte, error) {
	req := nl.NewNetlinkRequest(kind, flags|unix.NLM_F_ACK)
	req.Sockets = r.sockets
	for _, d := range data {
		req.AddData(d)
	}
	return req.Execute(unix.NETLINK_ROUTE, answer)
}
