package topology

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/lab/cable"
)

// Shape puts what the host sends and receives under a shape, each way, on every
// network that it is on. From the first shape on its traffic passes a cable,
// which stays: putting it in loses nothing, and taking it out would.
func (h *Host) Shape(s cable.Shape) error {
	for i := range h.ports {
		p := &h.ports[i]
		if p.cable == nil {
			if err := h.fabric.insert(h, p); err != nil {
				return fmt.Errorf("failed to lay a cable to %s: %w", h.ShortName, err)
			}
		}
		if err := p.cable.Shape(s); err != nil {
			return err
		}
	}
	return nil
}

// Cables are the counters of the host's cables, one for each network; a is the
// host's end. There are none before the first Shape.
func (h *Host) Cables() []cable.Counters {
	var all []cable.Counters
	for _, p := range h.ports {
		if p.cable != nil {
			all = append(all, p.cable.Counters())
		}
	}
	return all
}

// insert lays a cable between a host's port and its bridge. For the moment in
// which the port is on the bridge beside the cable, frames pass twice, which
// UDP, TCP and BFD bear; the other order would lose some.
func (f *fabric) insert(h *Host, p *port) error {
	inner, outer := p.far+"-a", p.far+"-b"
	attrs := netlink.NewLinkAttrs()
	attrs.Name = inner
	veth := netlink.NewVeth(attrs)
	veth.PeerName = outer
	if err := f.link.LinkAdd(veth); err != nil {
		return fmt.Errorf("failed to make %s: %w", inner, err)
	}
	if err := f.LinkUp(inner); err != nil {
		return err
	}
	old := p.far
	if err := f.master(outer, p.segment); err != nil {
		return err
	}
	if err := f.LinkUp(outer); err != nil {
		return err
	}
	c, err := cable.New(f.Do, old, inner)
	if err != nil {
		return err
	}
	p.cable, p.far = c, outer
	end, err := h.device(p.segment.device)
	if err != nil {
		return err
	}
	if err := f.forget(old, end.Attrs().HardwareAddr); err != nil {
		return err
	}
	return f.change(old, "unplug", f.link.LinkSetNoMaster)
}

// forget makes a bridge send what is for the hardware address no longer out of
// this port alone: it asks all ports, until it learns of another. A port that
// leaves with addresses to its name loses frames for a moment, and on a busy
// box it is a long one.
func (f *fabric) forget(port string, mac net.HardwareAddr) error {
	link, err := f.device(port)
	if err != nil {
		return err
	}
	if err := f.link.LinkSetLearning(link, false); err != nil {
		return fmt.Errorf("failed to stop %s from learning: %w", port, err)
	}
	err = f.link.NeighDel(&netlink.Neigh{LinkIndex: link.Attrs().Index, Family: unix.AF_BRIDGE,
		Flags: netlink.NTF_MASTER, HardwareAddr: mac})
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("failed to forget the address behind %s: %w", port, err)
	}
	return nil
}

// cut takes the host's cables away.
func (h *Host) cut() error {
	var errs []error
	for _, p := range h.ports {
		if p.cable != nil {
			errs = append(errs, p.cable.Close())
		}
	}
	return errors.Join(errs...)
}
