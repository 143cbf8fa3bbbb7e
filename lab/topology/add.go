package topology

import (
	"context"
	"errors"
	"fmt"
)

// AddNode starts the next spare node under everything that runs and waits until
// its resolver answers; its agent is started and not waited for.
func (l *Lab) AddNode(ctx context.Context) (*Node, error) {
	if len(l.spares) == 0 {
		return nil, errors.New("failed to add a node: no spare one is left")
	}
	n := l.spares[0]
	if err := l.startNode(ctx, n); err != nil {
		return nil, fmt.Errorf("failed to add %s: %w", n.ShortName, err)
	}
	if err := n.WaitResolver(ctx); err != nil {
		return nil, err
	}
	l.spares = l.spares[1:]
	l.Nodes = append(l.Nodes, n)
	return n, nil
}
