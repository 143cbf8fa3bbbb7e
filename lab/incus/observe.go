package incus

import (
	"context"
	"fmt"
	"net/netip"
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
	at := time.Now()
	events, err := b.router.guest.Watch(ctx)
	if err != nil {
		return nil, err
	}
	hops, err := b.router.guest.NextHops(serviceAddress)
	if err != nil {
		return nil, err
	}
	var sources sync.WaitGroup
	sources.Go(func() {
		tell(b.routes(at, hops))
		for e := range events {
			if e.Prefix == serviceAddress {
				tell(b.routes(e.At, e.NextHops))
			}
		}
	})
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

// routes is the event of these next hops.
func (b *network) routes(at time.Time, hops []netip.Addr) result.Event {
	state := fmt.Sprintf("%d next hops", len(hops))
	if len(hops) == 1 {
		state = "1 next hop"
	}
	var names []string
	for _, h := range hops {
		names = append(names, b.site.NameOf(h))
	}
	return result.Event{At: at, Lane: netns.LaneRoutes, State: state, Text: strings.Join(names, ", ")}
}
