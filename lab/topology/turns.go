package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Turns is an Agent whose nodes serve in turn, one at a time, so that a router's
// route does not say which does.
type Turns interface {
	Agent
	// Serving is the one of the nodes to which the router sends what is for the
	// service now; nil if there is none.
	Serving(ctx context.Context, r *Router, nodes []*Node) (*Node, error)
}

// Turn is the node whose turn it is behind a router, nil if it is nobody's. turns
// is false in a lab whose nodes serve together.
func (l *Lab) Turn(ctx context.Context, r *Router) (n *Node, turns bool, err error) {
	t, turns := l.agent.(Turns)
	if !turns {
		return nil, false, nil
	}
	n, err = t.Serving(ctx, r, l.Nodes)
	return n, true, err
}

// waitTurn waits until one of these nodes serves.
func (l *Lab) waitTurn(ctx context.Context, d time.Duration, r *Router, nodes []*Node) error {
	what := fmt.Sprintf("one of %d nodes serve behind %s", len(nodes), r.ShortName)
	return Within(ctx, d, what, func() (bool, string) {
		n, _, err := l.Turn(ctx, r)
		if n == nil || err != nil {
			return false, fmt.Sprint("none ", errors.Join(err))
		}
		return slices.Contains(nodes, n), n.ShortName
	})
}
