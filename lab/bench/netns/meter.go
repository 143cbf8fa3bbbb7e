package netns

import (
	"context"

	"recuse/lab/bench"
	"recuse/lab/bench/meter"
)

// meter starts to count what passes the node's interface.
func (n *node) meter() error { return meter.Start(context.Background(), n.Host) }

// DropClients makes the node's firewall drop what clients send to port 53.
func (n *node) DropClients(ctx context.Context, drop bool) error {
	if !drop {
		return meter.Drop(ctx, n.Host)
	}
	four, six := n.bench.lab.ClientRanges()
	return meter.Drop(ctx, n.Host, four, six)
}

// Seen reads the counters.
func (n *node) Seen(ctx context.Context) (bench.Traffic, error) { return meter.Read(ctx, n.Host) }
