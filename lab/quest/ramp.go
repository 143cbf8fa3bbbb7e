package quest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recuse/lab/load"
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

// Ramp raises the rate of questions for names that are cached, at each resolver,
// until answers are lost or late, and finds the rate by halving: without a limit
// of the rate and, where the resolver has one, with it. It needs root.
func Ramp(ctx context.Context, o Options) (_ RampReport, err error) {
	if o, err = o.withDefaults(); err != nil {
		return RampReport{}, err
	}
	rep := RampReport{Date: time.Now(), Machine: result.Here(), Busy: busy(), Start: o.Start, Max: o.Max,
		Slow: o.Slow, Loss: o.Loss, Hold: o.Hold}
	err = each(ctx, o, &rep.LeftOut, func(b *bed, r resolver, program, version string) error {
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
