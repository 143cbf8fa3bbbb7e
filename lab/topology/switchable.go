package topology

import (
	"context"
	"fmt"

	"recuse/lab/authority"
)

// switchable describes an authority that stands in for the node's resolver. It
// knows every name by itself, so that nothing but its behaviour makes it fail.
func (n *Node) switchable(command []string) *Process {
	n.behaviour = &authority.Client{Socket: n.Path("resolver.sock")}
	return n.Add("resolver", func() []string {
		return append(command[:len(command):len(command)], "-nsid", n.ShortName,
			"-listen", fmt.Sprintf("[::]:%d", dnsPort), "-control", n.behaviour.Socket)
	})
}

// Behave changes how the node's switchable resolver answers for every zone.
func (n *Node) Behave(ctx context.Context, b authority.Behaviour) error {
	if n.behaviour == nil {
		return fmt.Errorf("failed to set behaviour: the resolver of %s is unbound", n.ShortName)
	}
	for _, zone := range []string{authority.Root, authority.LAN, authority.Internet} {
		if err := n.behaviour.Set(ctx, zone, b); err != nil {
			return err
		}
	}
	return nil
}
