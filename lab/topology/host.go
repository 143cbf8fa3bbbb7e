package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/lab/cable"
)

// Host is one box of the lab: a namespace, a directory and its processes.
type Host struct {
	*Namespace
	ShortName string // "n1", "r1", "client", "wan"
	Dir       string // the host's own files

	fabric    *fabric
	processes []*Process
	ports     []port
}

// port is one interface of a host and its other end on a bridge.
type port struct {
	segment segment
	far     string       // name of the end on the bridge, in the switch's namespace
	cable   *cable.Cable // between the interface and far; nil: they are one veth
}

// newHost makes the host's directory and namespace.
func newHost(r *runDir, name string) (*Host, error) {
	h := &Host{ShortName: name, Dir: filepath.Join(r.path, name)}
	if err := os.Mkdir(h.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("failed to make directory of %s: %w", name, err)
	}
	ns, err := newNamespace(r.namespace(name))
	if err != nil {
		return nil, err
	}
	h.Namespace = ns
	return h, nil
}

// Path is the path of a file in the host's directory.
func (h *Host) Path(name string) string { return filepath.Join(h.Dir, name) }

// NFT gives the host's kernel rules, kept in a file of that name.
func (h *Host) NFT(ctx context.Context, name, rules string) error {
	if err := h.WriteFile(name, rules); err != nil {
		return err
	}
	_, err := h.Run(ctx, tool("nft"), "-f", h.Path(name))
	return err
}

// WriteFile puts a file into the host's directory, readable by root only.
func (h *Host) WriteFile(name, text string) error {
	if err := os.WriteFile(h.Path(name), []byte(text), 0o600); err != nil {
		return fmt.Errorf("failed to write %s of %s: %w", name, h.ShortName, err)
	}
	return nil
}

// Add describes a process of the host; the lab ends it when it closes. argv is
// asked at every start.
func (h *Host) Add(name string, argv func() []string) *Process {
	p := newProcess(h.Namespace, h.ShortName+" "+name, h.Path(name+".log"), argv)
	h.processes = append(h.processes, p)
	return p
}

// AddAddress puts an address on an interface of the host.
func (h *Host) AddAddress(device string, address netip.Prefix) error {
	link, err := h.device(device)
	if err != nil {
		return err
	}
	if err := h.link.AddrAdd(link, netlinkAddr(address)); err != nil {
		return fmt.Errorf("failed to add %s to %s of %s: %w", address, device, h.ShortName, err)
	}
	return nil
}

// DeleteAddress takes an address off an interface of the host.
func (h *Host) DeleteAddress(device string, address netip.Prefix) error {
	link, err := h.device(device)
	if err != nil {
		return err
	}
	if err := h.link.AddrDel(link, netlinkAddr(address)); err != nil {
		return fmt.Errorf("failed to delete %s from %s of %s: %w", address, device, h.ShortName, err)
	}
	return nil
}

// netlinkAddr is the address as netlink takes it. IPv6 skips duplicate address
// detection, which would keep it tentative for a second.
func netlinkAddr(p netip.Prefix) *netlink.Addr {
	a := &netlink.Addr{IPNet: ipNet(p)}
	if p.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	return a
}

// ipNet is the prefix as package net spells it, host bits kept.
func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// LinkUp sets an interface of the host up.
func (h *Host) LinkUp(device string) error { return h.change(device, "set up", h.link.LinkSetUp) }

// LinkDown sets an interface of the host down, as an operator would.
func (h *Host) LinkDown(device string) error {
	return h.change(device, "set down", h.link.LinkSetDown)
}

// DeleteLink deletes an interface of the host.
func (h *Host) DeleteLink(device string) error { return h.change(device, "delete", h.link.LinkDel) }

// change does one thing to an interface.
func (h *Host) change(device, verb string, f func(netlink.Link) error) error {
	link, err := h.device(device)
	if err != nil {
		return err
	}
	if err := f(link); err != nil {
		return fmt.Errorf("failed to %s %s of %s: %w", verb, device, h.ShortName, err)
	}
	return nil
}

// device finds an interface of the host.
func (h *Host) device(name string) (netlink.Link, error) {
	link, err := h.link.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("failed to find interface %s of %s: %w", name, h.ShortName, err)
	}
	return link, nil
}

// setGateway makes the router with that number the host's default gateway on
// the segment, in both families.
func (h *Host) setGateway(s segment, router int) error {
	link, err := h.device(s.device)
	if err != nil {
		return err
	}
	for _, gw := range []netip.Addr{s.v4(router), s.v6(router)} {
		r := &netlink.Route{LinkIndex: link.Attrs().Index, Gw: gw.AsSlice()}
		r.Dst = ipNet(netip.PrefixFrom(unspecified(gw), 0))
		if err := h.link.RouteReplace(r); err != nil {
			return fmt.Errorf("failed to route %s via %s: %w", h.ShortName, gw, err)
		}
	}
	return nil
}

// unspecified is 0.0.0.0 or ::, of the family of a.
func unspecified(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// Kill kills all processes of the host at once: the kernel closes their sockets
// and keeps links, addresses and routes.
func (h *Host) Kill() error {
	if err := h.tell(syscall.SIGKILL); err != nil {
		return err
	}
	for _, p := range h.processes {
		if err := p.Wait(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// Freeze makes the host fall silent without a word to anybody: no process runs
// and no packet comes in or out, while every link keeps its carrier.
func (h *Host) Freeze() error {
	// The wire first, so that no process sends a last word while the others
	// are being stopped.
	return errors.Join(h.Unplug(), h.tell(syscall.SIGSTOP))
}

// Thaw undoes Freeze.
func (h *Host) Thaw() error {
	return errors.Join(h.tell(syscall.SIGCONT), h.Plug())
}

// Unplug cuts the host off somewhere behind its switch ports.
func (h *Host) Unplug() error { return h.fabric.unplug(h) }

// Plug undoes Unplug.
func (h *Host) Plug() error { return h.fabric.plug(h) }

// end ends all processes of the host, the last started first.
func (h *Host) end() error {
	var errs []error
	for _, p := range slices.Backward(h.processes) {
		errs = append(errs, p.End())
	}
	return errors.Join(errs...)
}

// tell sends a signal to every process of the host that runs, and to what they
// have started.
func (h *Host) tell(s syscall.Signal) error {
	var roots []int
	for _, p := range h.processes {
		if p.Running() {
			roots = append(roots, p.PID())
		}
	}
	return signalTree(roots, s)
}
