package topology

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Interfaces of a guest by the network that it is on.
var (
	NodePorts   = []string{nodeNet.name}
	RouterPorts = []string{clientNet.name, nodeNet.name, wideNet.name}
)

// NewSite raises a lab without routers and nodes: the clients, the authority and
// the switches that somebody else's hosts are plugged into (Guest). It closes as
// a lab does, but does not watch ctx.
func NewSite(ctx context.Context, o Options) (*Lab, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("failed to raise site: %w", err)
	}
	run, err := newRunDir(o.Log)
	if err != nil {
		return nil, fmt.Errorf("failed to raise site: %w", err)
	}
	l := &Lab{options: o, run: run, log: o.Log, unhook: func() bool { return true }}
	l.close = sync.OnceValue(l.tearDown)
	for _, step := range []func(context.Context) error{l.raiseFabric, l.raiseEdges, l.startAuthority} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("failed to raise site: %w", err), l.close())
		}
	}
	return l, nil
}

// Switch is the host of the bridges, whose names are those of the networks.
func (l *Lab) Switch() *Host { return l.fabric.Host }

// FarEnd is how a guest's interface on a network must be called in the switch's
// namespace, and Device how in the guest's own.
func FarEnd(guest, network string) string { return guest + "-" + network }

// Device is the name of every host's interface on a network.
func Device(network string) string { return segmentOf(network).device }

// segmentOf finds a network.
func segmentOf(network string) segment {
	all := []segment{clientNet, nodeNet, wideNet}
	return all[slices.IndexFunc(all, func(s segment) bool { return s.name == network })]
}

// GuestRouter takes a process's namespace for the site's router, which runs FRR:
// it forwards, and it is Lab.Router. vtysh is the command that puts a question
// to its daemons.
func (l *Lab) GuestRouter(name string, pid int, vtysh func(question string) []string) (*Router, error) {
	h, err := l.guest(name, pid, RouterPorts, 1)
	if err != nil {
		return nil, err
	}
	r := &Router{Host: h, Number: 1, Kind: FRR, suite: guestSuite{vtysh}}
	if err := r.forwarding(); err != nil {
		return nil, errors.Join(err, h.Leave())
	}
	l.Router, l.Routers = r, []*Router{r}
	return r, nil
}

// Uplink puts an interface of the machine on one of the site's networks. What is
// not a real device is gone when the site closes; a real one returns.
func (l *Lab) Uplink(ctx context.Context, network, device string) error {
	out, err := output(ctx, "ip", "link", "set", device, "netns", l.fabric.Name)
	if err != nil {
		return fmt.Errorf("failed to take %s for the network %s: %w: %s", device, network, err, out)
	}
	if err := l.fabric.master(device, segmentOf(network)); err != nil {
		return err
	}
	return l.fabric.LinkUp(device)
}

// CutInternet is CutWide where the router is out of reach: at the authority.
func (l *Lab) CutInternet(ctx context.Context, cut bool) error {
	rules := noWide
	if cut {
		rules += wideRules()
	}
	return l.Authority.NFT(ctx, "wide.nft", rules)
}

// RouterAddresses are the addresses that the site's router must have on its
// networks, by their names.
func RouterAddresses() map[string][]netip.Prefix {
	all := map[string][]netip.Prefix{}
	for _, network := range RouterPorts {
		all[network] = segmentOf(network).addresses(1)
	}
	return all
}

// guestSuite are a guest's daemons, which somebody else starts.
type guestSuite struct {
	ask func(question string) []string
}

// errGuest is what comes of starting a guest's daemons.
var errGuest = errors.New("the daemons are a guest's")

func (guestSuite) configure(string) error             { return errGuest }
func (guestSuite) start(context.Context) error        { return errGuest }
func (s guestSuite) command(question string) []string { return s.ask(question) }

// GuestNode takes a process's namespace for that of the node with that index,
// which is one of Lab.Nodes from now on. Indices come in order; one that is there
// already is replaced.
func (l *Lab) GuestNode(index, pid int) (*Node, error) {
	n := l.node(index)
	h, err := l.guest(n.ShortName, pid, NodePorts, firstNode+index)
	if err != nil {
		return nil, err
	}
	if err := h.setGateway(nodeNet, 1); err != nil {
		return nil, errors.Join(err, h.Leave())
	}
	n.Host = h
	if index == len(l.known) {
		l.known = append(l.known, n)
	} else {
		l.known[index] = n
	}
	l.Nodes = slices.Clone(l.known)
	return n, nil
}

// node describes the node with that index, its host's name alone.
func (l *Lab) node(index int) *Node {
	return &Node{
		Host: &Host{ShortName: fmt.Sprintf("n%d", index+1)}, Index: index, ASN: FirstNodeASN + uint32(index),
		V4: nodeNet.v4(firstNode + index), V6: nodeNet.v6(firstNode + index),
		Addresses: l.options.Addresses, LinkKind: l.HolderKind(), recuse: l.options.Recuse, askAt: l.options.askAt(),
	}
}

// HolderKind is the kind of link that holds service addresses on this kernel.
func (l *Lab) HolderKind() string {
	if l.options.LinkKind == "" {
		l.options.LinkKind = l.fabric.holderKind()
	}
	return l.options.LinkKind
}

// GuestConfig is the recuse.yaml of the node with that index as a tree, and its
// resolver's configuration, both for a box where their files are in the
// directories of a package.
func (l *Lab) GuestConfig(index int) (recuse map[string]any, unbound string) {
	n := l.node(index)
	recuse = n.config(l.options)
	recuse["state_dir"] = "/var/lib/recuse"
	recuse["control"] = map[string]any{"socket": "/run/recuse/recuse.sock", "group": ""}
	h := &Host{ShortName: n.ShortName, Dir: "/run"}
	return recuse, unboundConfig(h, listenLines(l.options.ResolverListen), l.options.ResolverExtra)
}

// guest is a host in a process's namespace whose interfaces are there already,
// with its addresses on the networks.
func (l *Lab) guest(name string, pid int, networks []string, number int) (*Host, error) {
	h := &Host{ShortName: name, Dir: filepath.Join(l.run.path, name), fabric: l.fabric}
	if err := os.MkdirAll(h.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("failed to make directory of %s: %w", name, err)
	}
	var err error
	if h.Namespace, err = openNamespace(name, pid); err != nil {
		return nil, err
	}
	for _, network := range networks {
		s := segmentOf(network)
		h.ports = append(h.ports, port{segment: s, far: FarEnd(name, network)})
		for _, a := range s.addresses(number) {
			err = errors.Join(err, h.AddAddress(s.device, a))
		}
		err = errors.Join(err, h.LinkUp(s.device))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("failed to connect %s: %w", name, err), h.Leave())
	}
	return h, nil
}

// Leave gives a guest's namespace back: its processes go on, and the ends of its
// interfaces that are the site's are free for another.
func (h *Host) Leave() error {
	errs := []error{h.cut()}
	for _, p := range h.ports {
		if p.cable != nil {
			errs = append(errs, h.fabric.DeleteLink(p.far))
		}
	}
	return errors.Join(append(errs, h.Namespace.close())...)
}

// Leave is the host's, and closes the node's gate.
func (n *Node) Leave() error {
	if n.gate == nil {
		return n.Host.Leave()
	}
	err := n.gate.Close()
	n.gate = nil
	return errors.Join(err, n.Host.Leave())
}
