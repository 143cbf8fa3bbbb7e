package topology

import (
	"context"
	"fmt"

	"recuse/lab/authority"
	"recuse/lab/topology/gate"
)

// behind has a gate before the resolver behave so.
func (n *Node) behind(ctx context.Context, b authority.Behaviour) (err error) {
	if n.gate == nil {
		if n.gate, err = gate.New(n.Do); err != nil {
			return fmt.Errorf("failed to set behaviour on %s: %w", n.ShortName, err)
		}
		if err := n.NFT(ctx, "gate.nft", gate.Rules); err != nil {
			return err
		}
	}
	return n.gate.Set(b)
}

// Behaved counts what the gate before the node's resolver did; nothing while
// there is none.
func (n *Node) Behaved() authority.Counts {
	if n.gate == nil {
		return authority.Counts{}
	}
	return n.gate.Counts()
}

// switchable describes an authority that stands in for the node's resolver. It
// knows every name by itself, so that nothing but its behaviour makes it fail.
func (n *Node) switchable(command []string) *Process {
	n.behaviour = &authority.Client{Socket: n.Path("resolver.sock")}
	return n.Add("resolver", func() []string {
		return append(command[:len(command):len(command)], "-nsid", n.ShortName,
			"-listen", fmt.Sprintf("[::]:%d", dnsPort), "-control", n.behaviour.Socket)
	})
}

// Behave changes how the node's resolver answers for every zone, what it has in
// its cache included: a switchable one by itself, unbound through a gate that
// opens at the first call.
func (n *Node) Behave(ctx context.Context, b authority.Behaviour) error {
	if n.behaviour == nil {
		return n.behind(ctx, b)
	}
	for _, zone := range []string{authority.Root, authority.LAN, authority.Internet} {
		if err := n.behaviour.Set(ctx, zone, b); err != nil {
			return err
		}
	}
	return nil
}
