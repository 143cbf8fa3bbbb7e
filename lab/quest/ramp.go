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
	"recuse/lab/result"
)

// RampReport says which rates resolvers hold.
type RampReport struct {
	Date    time.Time      `json:"date"`
	Machine result.Machine `json:"machine"`
	Busy    string         `json:"busy"` // the box's load averages when it began
	Start   float64        `json:"start"`
	Max     float64        `json:"max"`
	Slow    time.Duration  `json:"slow_ns"`
	Loss    float64        `json:"loss"`
	Hold    time.Duration  `json:"hold_ns"`
	Results []RampResult   `json:"results"`
	LeftOut []LeftOut      `json:"left_out,omitempty"`
}

// RampResult is one ramp of one resolver.
type RampResult struct {
	Resolver string `json:"resolver"`
	Note     string `json:"note,omitempty"`
	Version  string `json:"version"`
	Setting  string `json:"setting,omitempty"` // limits the rate; "" for none
	Limit    int    `json:"limit,omitempty"`   // that the setting names

	// Held is the highest rate that was held, Fails the lowest above it that was
	// not, and Why says what failed; Fails is 0 if every rate was held.
	Held  float64 `json:"held"`
	Fails float64 `json:"fails,omitempty"`
	Why   string  `json:"why,omitempty"`
	Steps []Step  `json:"steps"`
}

// Step is one rate that was tried.
type Step struct {
	Rate  float64       `json:"rate"`
	Asked int           `json:"asked"`
	Lost  int           `json:"lost"` // no answer, or a refusal
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	Held  bool          `json:"held"`
	Why   string        `json:"why,omitempty"`
	// Late says that the generator itself was late, so that only the losses were
	// judged and the times say nothing.
	Late bool `json:"late,omitempty"`
}

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

// Ramp raises the rate of questions for names that are cached, at each resolver,
// until answers are lost or late, and finds the rate by halving: without a limit
// of the rate and, where the resolver has one, with it. It needs root.
func Ramp(ctx context.Context, o Options) (_ RampReport, err error) {
	if o, err = o.withDefaults(); err != nil {
		return RampReport{}, err
	}
	b, err := newBed(ctx, o)
	if err != nil {
		return RampReport{}, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	rep := RampReport{Date: time.Now(), Machine: result.Here(), Busy: busy(), Start: o.Start, Max: o.Max,
		Slow: o.Slow, Loss: o.Loss, Hold: o.Hold}
	err = b.with(ctx, o, func(r resolver, why string) {
		rep.LeftOut = append(rep.LeftOut, LeftOut{r.name, why})
	}, func(ctx context.Context, r resolver, program, version string) error {
		for _, limit := range limits(o, r) {
			res := RampResult{Resolver: r.name, Note: r.note, Version: version, Limit: limit, Setting: r.setting(limit)}
			err := b.ramp(ctx, o, r, program, &res)
			rep.Results = append(rep.Results, res)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return rep, err
}

// limits are the limits to configure, 0 for none.
func limits(o Options, r resolver) (limits []int) {
	if o.Unlimited {
		limits = append(limits, 0)
	}
	if o.Limited && r.limit != "" {
		limits = append(limits, o.Limit)
	}
	return limits
}

// ramp fills in one result.
func (b *bed) ramp(ctx context.Context, o Options, r resolver, program string, res *RampResult) (err error) {
	p, err := b.start(ctx, r, program, res.Limit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.End()) }()
	if err := b.warm(ctx); err != nil {
		return err
	}
	found, err := search(ctx, o.Start, o.Max, o.Precision, func(ctx context.Context, rate float64) (verdict, error) {
		s, err := b.try(ctx, o, r, rate, res.Limit)
		if err != nil {
			return verdict{}, err
		}
		res.Steps = append(res.Steps, s)
		o.Progress(r.name + ", " + s.String())
		return verdict{s.Held, s.Why}, nil
	})
	res.Held, res.Fails, res.Why = found.Held, found.Fails, found.Why
	return err
}

// warm asks for all names once, slowly enough for any limit.
func (b *bed) warm(ctx context.Context) error {
	records, err := load.Run(ctx, b.config(20, time.Second))
	if err != nil {
		return err
	}
	if f := load.Summarize(records); f.Lost+f.Bad > 0 {
		return fmt.Errorf("failed to warm cache: %d of %d questions lost", f.Lost+f.Bad, f.Asked)
	}
	return context.Cause(ctx)
}

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
		if err := pause(ctx, 2*r.debt+forget); err != nil {
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
	if err := pause(ctx, floodFor); err != nil {
		running.Wait()
		return nil, err
	}
	return running.Wait, nil
}

// pause lets time pass, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
