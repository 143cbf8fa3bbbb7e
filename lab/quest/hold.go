package quest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"recuse/lab/authority"
	"recuse/lab/load"
	"recuse/lab/load/stub"
)

// How a rate is tried where a limit is configured. A limit may let a burst pass
// (a token bucket), or count what came up to two seconds ago (unbound). So a
// flood comes first, which uses a burst up, and then the rate itself for long
// enough that nothing of before is counted.
const (
	floodFor  = 1500 * time.Millisecond // at twice the rate
	settleFor = 3 * time.Second
	warmFor   = 500 * time.Millisecond // without a limit
)

// A limit that keeps a debt (resolver.debt) would punish a rate for the flood
// before it. It is left in peace until it has forgotten, and the burst that it
// lets pass, one second's, is used up by the rate itself: one that is a tenth
// above the limit needs ten seconds for that.
const (
	useUpFor = 12 * time.Second
	forget   = 500 * time.Millisecond // longer than twice the debt
)

// lateTries is how often a rate is tried until the generator is not late.
const lateTries = 3

// stepTimeout is how long an answer is awaited.
const stepTimeout = time.Second

// config is a run of the generator on the client's host.
func (b *bed) config(rate float64, d time.Duration) load.Config {
	return load.Config{
		Servers:  []netip.AddrPort{netip.AddrPortFrom(b.node.V4, 53)},
		Clients:  []load.Network{{Do: b.Client.Do}},
		Rate:     rate,
		Duration: d,
		Mix:      authority.Popular(),
		Stub:     stub.None(stepTimeout),
	}
}

// try tries a rate, again if the generator was late.
func (b *bed) try(ctx context.Context, o Options, r resolver, rate float64, limit int) (s Step, err error) {
	for range lateTries {
		records, err := b.hold(ctx, o, r, rate, limit)
		if err != nil {
			return s, err
		}
		if s = judge(o, rate, load.Summarize(records)); !s.Late {
			break
		}
	}
	return s, nil
}

// hold holds a rate and returns the records that are to be judged.
func (b *bed) hold(ctx context.Context, o Options, r resolver, rate float64, limit int) ([]load.Record, error) {
	before := warmFor
	switch {
	case limit == 0:
	case r.debt > 0:
		before = useUpFor
		if err := load.Pause(ctx, 2*r.debt+forget); err != nil {
			return nil, err
		}
	default:
		before = settleFor
		ended, err := b.flood(ctx, 2*rate)
		if err != nil {
			return nil, err
		}
		defer ended()
	}
	records, err := load.Run(ctx, b.config(rate, before+o.Hold))
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return judged(records, before)
}

// judged are the records of questions that were meant to be asked that long
// after the first one, or later.
func judged(records []load.Record, before time.Duration) ([]load.Record, error) {
	i := slices.IndexFunc(records, func(r load.Record) bool {
		return r.Intended.Sub(records[0].Intended) >= before
	})
	if i < 0 {
		return nil, errors.New("no question was asked while the rate was held")
	}
	return records[i:], nil
}

// flood uses up what the limit lets pass at once, and returns when the last of
// it has been sent. ended waits for the answers.
func (b *bed) flood(ctx context.Context, rate float64) (ended func(), err error) {
	c := b.config(min(rate, load.MaxRate), floodFor)
	c.Discard = true
	var running sync.WaitGroup
	running.Go(func() { _, _ = load.Run(ctx, c) }) // what becomes of it is no matter
	if err := load.Pause(ctx, floodFor); err != nil {
		running.Wait()
		return nil, err
	}
	return running.Wait, nil
}

// judge says whether a rate was held.
func judge(o Options, rate float64, f load.Figures) Step {
	s := Step{Rate: rate, Asked: f.Asked, Lost: f.Lost + f.Bad, P50: f.P50, P99: f.P99, Late: f.Void != ""}
	switch share := float64(s.Lost) / float64(max(s.Asked, 1)); {
	case f.Unsent > 0:
		s.Why = f.Void
	case share > o.Loss:
		s.Why = fmt.Sprintf("%.3g %% lost", 100*share)
	case s.P99 > o.Slow && !s.Late:
		s.Why = "p99 " + round(s.P99)
	default:
		s.Held = true
	}
	return s
}
