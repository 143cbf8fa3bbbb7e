package topology

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// fabric is the namespace that holds the three bridges. What arrives on a port
// that is on no bridge meets a host without addresses: it is lost.
type fabric struct {
	*Host
}

// bridges makes one bridge a segment. Without snooping a bridge floods
// neighbour discovery at once, not only after a querier has spoken.
func (f *fabric) bridges(segments []segment) error {
	if err := f.Sysctl("net/ipv6/conf/default/disable_ipv6", "1"); err != nil {
		return err
	}
	snooping := false
	for _, s := range segments {
		b := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: s.name}, MulticastSnooping: &snooping}
		if err := f.link.LinkAdd(b); err != nil {
			return fmt.Errorf("failed to make bridge %s: %w", s.name, err)
		}
		if err := f.link.LinkSetUp(b); err != nil {
			return fmt.Errorf("failed to set bridge %s up: %w", s.name, err)
		}
	}
	return nil
}

// connect gives a host an interface on the segment with these addresses.
func (f *fabric) connect(h *Host, s segment, addresses []netip.Prefix) error {
	far := h.ShortName + "-" + s.name
	attrs := netlink.NewLinkAttrs()
	attrs.Name = far
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerNamespace = s.device, netlink.NsFd(h.handle)
	if err := f.link.LinkAdd(veth); err != nil {
		return fmt.Errorf("failed to make port %s: %w", far, err)
	}
	h.ports = append(h.ports, port{segment: s, far: far})
	if err := f.plug(h); err != nil {
		return err
	}
	if err := f.LinkUp(far); err != nil {
		return err
	}
	if err := h.LinkUp(s.device); err != nil {
		return err
	}
	for _, a := range addresses {
		if err := h.AddAddress(s.device, a); err != nil {
			return err
		}
	}
	return nil
}

// plug puts the host's ports on their bridges.
func (f *fabric) plug(h *Host) error {
	for _, p := range h.ports {
		if err := f.master(p.far, p.segment); err != nil {
			return err
		}
	}
	return nil
}

// master puts one interface on a segment's bridge.
func (f *fabric) master(device string, s segment) error {
	bridge, err := f.device(s.name)
	if err != nil {
		return err
	}
	return f.change(device, "plug in", func(l netlink.Link) error { return f.link.LinkSetMaster(l, bridge) })
}

// unplug takes the host's ports off their bridges. Both ends keep their
// carrier: nobody is told.
func (f *fabric) unplug(h *Host) error {
	for _, p := range h.ports {
		if err := f.change(p.far, "unplug", f.link.LinkSetNoMaster); err != nil {
			return err
		}
	}
	return nil
}

// holderKind is the kind of link that holds service addresses: dummy, or ifb,
// whose flags and state are the same, where the kernel has no dummy.
func (f *fabric) holderKind() string {
	d := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: "probe0"}}
	if f.link.LinkAdd(d) != nil || f.link.LinkDel(d) != nil {
		return "ifb"
	}
	return "dummy"
}
