package netns

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
	"recuse/lab/topology"
)

// What an agent that is not ours does is seen at the router, by asking again
// and again. Each look costs the router a process or two, so they are few.
const (
	sessionsEvery = 500 * time.Millisecond
	turnsEvery    = 200 * time.Millisecond
)

// outsideReady waits until the router's kernel sends the clients to every node,
// or to one of nodes that serve in turn, and then until BFD is up with each that
// the router has a session with. It asks of IPv4, as the clients do: what other
// agents give as a next hop of IPv6 is theirs to choose.
func (b *network) outsideReady(ctx context.Context) error {
	_, turns := b.lab.Agent().(topology.Turns)
	var all []string
	for _, n := range b.nodes {
		all = append(all, n.ShortName)
	}
	if err := topology.WaitFor(ctx, fmt.Sprintf("next hops %v", all), func() (bool, string) {
		names, err := b.router.NextHops(ctx)
		return err == nil && (slices.Equal(names, all) || turns && len(names) > 0), fmt.Sprint(names, err)
	}); err != nil {
		return err
	}
	return topology.WaitFor(ctx, "BFD up by the router's word", func() (bool, string) {
		states, err := b.lab.Router.BFD(ctx)
		if err != nil {
			return true, "" // the router has no BFD at all
		}
		for _, n := range b.nodes {
			if s, ok := states[n.V4]; ok && s != "up" {
				return false, fmt.Sprint(states)
			}
		}
		return true, ""
	})
}

// watchOutside tells the states of the router's sessions with the nodes.
func (b *network) watchOutside(ctx context.Context, o *observer) {
	o.poll(ctx, sessionsEvery, func(ctx context.Context, at time.Time, tell func(result.Event)) {
		bgp, _ := b.lab.Router.BGP(ctx) // a router that does not answer shows nothing
		bfd, _ := b.lab.Router.BFD(ctx)
		for _, n := range b.lab.Known() {
			if s, ok := bgp[n.V4]; ok {
				tell(session(at, n.ShortName+" bgp", s == "established", s))
			}
			if s, ok := bfd[n.V4]; ok {
				tell(session(at, n.ShortName+" bfd", s == "up", s))
			}
		}
	})
}

// session is what the router says of one.
func session(at time.Time, lane string, up bool, says string) result.Event {
	state := "DOWN"
	if up {
		state = "UP"
	}
	return result.Event{At: at, Lane: lane, State: state, Text: "the router says " + says}
}

// watchTurns tells whose turn it is, of nodes that serve in turn.
func (b *network) watchTurns(ctx context.Context, o *observer) {
	o.poll(ctx, turnsEvery, func(ctx context.Context, at time.Time, tell func(result.Event)) {
		names, err := b.router.NextHops(ctx)
		if err == nil {
			tell(result.Event{At: at, Lane: LaneRoutes, State: counted(len(names)), Text: strings.Join(names, ", ")})
		}
	})
}

// looking is one look, whose events bear its time.
type looking func(ctx context.Context, at time.Time, tell func(result.Event))

// poll looks again and again, for the last time when ctx has ended, and tells of
// each lane what has changed.
func (o *observer) poll(ctx context.Context, every time.Duration, look looking) {
	last := map[string]result.Event{}
	once := func() {
		look(context.WithoutCancel(ctx), time.Now(), func(e result.Event) {
			if old, ok := last[e.Lane]; !ok || old.State != e.State || old.Text != e.Text {
				last[e.Lane] = e
				o.tell(e)
			}
		})
	}
	once() // so that nothing that follows is missed
	o.sources.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				once()
			case <-ctx.Done():
				once()
				return
			}
		}
	})
}
