package netns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"recuse/lab/result"
	"recuse/lab/topology"
)

// LaneRoutes is the lane of the next hops in the router's kernel.
const LaneRoutes = "router routes"

// observed is how many events wait for their reader.
const observed = 256

// Observe tells what the parties do until ctx ends.
func (b *network) Observe(ctx context.Context) (<-chan result.Event, error) {
	o := &observer{out: make(chan result.Event, observed), done: ctx.Done()}
	if b.options.Design == Anycast {
		if err := b.watchRoutes(ctx, o); err != nil {
			return nil, err
		}
	}
	if b.options.Design == Relay {
		o.follow(ctx, b.lab.Relay.LogPath, relayEvents)
	}
	if b.options.Agent != nil {
		b.watchOutside(ctx, o)
	}
	for _, n := range b.lab.Known() {
		if b.options.Design == Anycast && n.Agent != nil {
			o.follow(ctx, n.Agent.LogPath, func(lines []string) []result.Event { return agentEvents(n.ShortName, lines) })
			o.watchProcess(ctx, n)
		}
	}
	go func() {
		o.sources.Wait()
		close(o.out)
	}()
	return o.out, nil
}

// observer gathers events of several sources.
type observer struct {
	out     chan result.Event
	done    <-chan struct{}
	sources sync.WaitGroup
}

// tell hands an event over, unless there is no room for it and nobody listens
// any more.
func (o *observer) tell(e result.Event) {
	select {
	case o.out <- e:
		return
	default:
	}
	select {
	case o.out <- e:
	case <-o.done:
	}
}

// watchRoutes tells the next hops behind the service address, as they are and
// as they change.
func (b *network) watchRoutes(ctx context.Context, o *observer) error {
	if _, turns := b.lab.Agent().(topology.Turns); turns {
		b.watchTurns(ctx, o)
		return nil
	}
	at := time.Now()
	events, err := b.lab.Router.Watch(ctx)
	if err != nil {
		return err
	}
	hops, err := b.lab.Router.NextHops(service)
	if err != nil {
		return err
	}
	o.sources.Go(func() {
		o.tell(b.routes(at, hops))
		for e := range events {
			if e.Prefix == service {
				o.tell(b.routes(e.At, e.NextHops))
			}
		}
	})
	return nil
}

// routes is the event of these next hops.
func (b *network) routes(at time.Time, hops []netip.Addr) result.Event {
	return result.Event{At: at, Lane: LaneRoutes, State: counted(len(hops)), Text: strings.Join(b.names(hops), ", ")}
}

// counted is the state of a lane with that many next hops.
func counted(hops int) string {
	if hops == 1 {
		return "1 next hop"
	}
	return fmt.Sprintf("%d next hops", hops)
}

// names are those behind next hops, sorted: nodes, or the last resort.
func (b *network) names(hops []netip.Addr) []string {
	names := []string{}
	for _, h := range hops {
		names = append(names, b.lab.NameOf(h))
	}
	slices.Sort(names)
	return names
}
