package incus

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"recuse/lab/bench/follow"
	"recuse/lab/bench/netns"
	"recuse/lab/result"
)

// observed is how many events wait for their reader.
const observed = 256

// Observe tells what the parties do until ctx ends: the router's kernel its
// next hops, and every node's recuse what it logs.
func (b *network) Observe(ctx context.Context) (<-chan result.Event, error) {
	out := make(chan result.Event, observed)
	tell := func(e result.Event) {
		select {
		case out <- e:
		case <-ctx.Done():
		}
	}
	var sources sync.WaitGroup
	if err := b.router.watch(ctx, &sources, tell); err != nil {
		return nil, err
	}
	for i := range b.options.Nodes + 1 {
		name := fmt.Sprintf("n%d", i+1)
		path := filepath.Join(b.run.path, "hosts", name, "log", "recuse.log")
		read := func(lines []string) []result.Event { return follow.Recuse(name, lines) }
		sources.Go(func() { follow.Log(ctx, path, read, tell) })
	}
	go func() {
		sources.Wait()
		close(out)
	}()
	return out, nil
}

// routes is the event of these nodes as next hops.
func routes(at time.Time, names []string) result.Event {
	state := fmt.Sprintf("%d next hops", len(names))
	if len(names) == 1 {
		state = "1 next hop"
	}
	return result.Event{At: at, Lane: netns.LaneRoutes, State: state, Text: strings.Join(names, ", ")}
}
