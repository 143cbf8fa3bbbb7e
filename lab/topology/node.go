package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"recuse/lab/authority"
)

// Node is a box with a resolver and an agent.
type Node struct {
	*Host
	Index    int    // from 0
	ASN      uint32 // its own AS
	V4, V6   netip.Addr
	Resolver *Process // unbound, or the switchable one
	Agent    *Process // recuse run; nil in a lab without recuse

	recuse    string
	behaviour *authority.Client // of a switchable resolver, else nil
	askAt     netip.Addr        // an address at which the resolver listens
	tree      map[string]any
}

// newNode describes the node's processes.
func newNode(h *Host, index int, o Options) *Node {
	n := &Node{
		Host: h, Index: index, ASN: FirstNodeASN + uint32(index),
		V4: nodeNet.v4(firstNode + index), V6: nodeNet.v6(firstNode + index),
		recuse: o.Recuse, askAt: o.askAt(),
	}
	if o.Switchable {
		n.Resolver = n.switchable(o.Authority)
	} else {
		n.Resolver = h.process("unbound", func() []string {
			return []string{tool("unbound"), "-d", "-p", "-c", n.Path("unbound.conf")}
		})
	}
	if o.Recuse != "" {
		n.Agent = h.process("recuse", func() []string {
			return []string{o.Recuse, "run", "-c", n.Path(ConfigFile)}
		})
	}
	return n
}

// setUp connects the node and writes its files.
func (n *Node) setUp(o Options, kind string) error {
	if err := n.fabric.connect(n.Host, nodeNet, nodeNet.addresses(firstNode+n.Index)); err != nil {
		return err
	}
	if err := n.setGateway(nodeNet, 1); err != nil {
		return err
	}
	if err := n.write("unbound.conf", unboundConfig(n, o)); err != nil {
		return err
	}
	return n.writeConfig(o, kind)
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
