package netns

import (
	"context"

	"recuse/lab/bench/follow"
	"recuse/lab/result"
)

// follow tells what a log says: of each lane how it stands now, then every
// change.
func (o *observer) follow(ctx context.Context, path string, read func(lines []string) []result.Event) {
	o.sources.Go(func() { follow.Log(ctx, path, read, o.tell) })
}

// agentEvents are those that lines of recuse's log on a node tell.
func agentEvents(node string, lines []string) []result.Event { return follow.Recuse(node, lines) }
