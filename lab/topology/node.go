package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"

	"recuse/lab/authority"
	"recuse/lab/topology/gate"
)

// Node is a box with a resolver and an agent.
type Node struct {
	*Host
	Index    int    // from 0
	ASN      uint32 // its own AS
	V4, V6   netip.Addr
	Resolver *Process   // unbound, or the switchable one
	Agent    *Process   // recuse run; nil in a lab without recuse
	Agents   []*Process // the agent's processes, recuse's or another's, in the order of their start

	Addresses []netip.Prefix // of the service
	Gateways  []netip.Addr   // the routers' IPv4 addresses on the nodes' net
	LinkKind  string         // of a link that holds service addresses: dummy, or ifb

	recuse     string
	translated bool              // the authority sees another address
	behaviour  *authority.Client // of a switchable resolver, else nil
	gate       *gate.Gate        // before unbound, once it has been made to behave
	askAt      netip.Addr        // an address at which the resolver listens
	tree       map[string]any
}

// newNode describes the node and its resolver.
func newNode(h *Host, index int, o Options) (*Node, error) {
	n := &Node{
		Host: h, Index: index, ASN: FirstNodeASN + uint32(index),
		V4: nodeNet.v4(firstNode + index), V6: nodeNet.v6(firstNode + index),
		Addresses: o.Addresses, LinkKind: o.LinkKind,
		recuse: o.Recuse, askAt: o.askAt(), translated: o.Layout == Flat,
	}
	for i := range o.Routers {
		n.Gateways = append(n.Gateways, nodeNet.v4(i+1))
	}
	if o.Switchable {
		n.Resolver = n.switchable(o.Authority)
	} else {
		var err error
		n.Resolver, err = h.unbound(listenLines(o.ResolverListen), o.ResolverExtra)
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

// setUp connects the node, writes its files and installs its agent.
func (n *Node) setUp(ctx context.Context, o Options, a Agent) error {
	if err := n.fabric.connect(n.Host, nodeNet, nodeNet.addresses(firstNode+n.Index)); err != nil {
		return err
	}
	if err := n.setGateway(nodeNet, 1); err != nil {
		return err
	}
	var err error
	if n.Agents, err = a.Install(ctx, n); err != nil {
		return fmt.Errorf("failed to install %s on %s: %w", a.Name(), n.ShortName, err)
	}
	return nil
}

// Hold makes a link that holds the service addresses, up, for an agent that
// does not make its own.
func (n *Node) Hold(device string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = device
	var link netlink.Link = &netlink.Dummy{LinkAttrs: attrs}
	if n.LinkKind != "dummy" {
		link = &netlink.GenericLink{LinkAttrs: attrs, LinkType: n.LinkKind}
	}
	if err := n.link.LinkAdd(link); err != nil {
		return fmt.Errorf("failed to make link %s of %s: %w", device, n.ShortName, err)
	}
	for _, a := range n.Addresses {
		if err := n.AddAddress(device, a); err != nil {
			return err
		}
	}
	return n.LinkUp(device)
}

// Status is what `recuse status --json` prints, of the parts that the lab uses.
type Status struct {
	Node     string `json:"node"`
	Services []struct {
		Name      string `json:"name"`
		Stance    string `json:"stance"`
		Level     string `json:"level"`
		Admin     string `json:"admin"`
		Reason    string `json:"reason"`
		Addresses []struct {
			Prefix    netip.Prefix `json:"prefix"`
			Present   bool         `json:"present"`
			Announced bool         `json:"announced"`
		} `json:"addresses"`
	} `json:"services"`
	Peers []struct {
		Address netip.Addr `json:"address"`
		State   string     `json:"state"`
		BFD     *struct {
			State  string `json:"state"`
			Remote string `json:"remote_state"`
		} `json:"bfd"`
	} `json:"peers"`
	Raw string `json:"-"` // all of it
}

// Status asks the node's agent how it stands.
func (n *Node) Status(ctx context.Context) (Status, error) {
	// The exit status says whether all is announced, so it is no failure.
	out, runErr := n.Run(ctx, n.recuse, "status", "--json", "-c", n.Path(ConfigFile))
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return Status{}, errors.Join(fmt.Errorf("failed to read status of %s: %w", n.ShortName, err), runErr)
	}
	s.Raw = out
	return s, nil
}
