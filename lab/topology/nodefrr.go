package topology

import (
	"context"
	"fmt"
)

// StartFRR starts FRR on the node with that configuration, as another announcer
// to compare an agent with: the lab freezes and ends its daemons with the rest
// of the node. It may be called once for a node.
func (n *Node) StartFRR(ctx context.Context, config string) error {
	f := newFRR(n.Host)
	if err := f.configure(config); err != nil {
		return err
	}
	if err := f.start(ctx); err != nil {
		return fmt.Errorf("failed to start FRR on %s: %w", n.ShortName, err)
	}
	return nil
}
