package quest

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recuse/lab/authority"
	"recuse/lab/load"
)

// Options say what to ask whom. What is left out has a default.
type Options struct {
	Authority []string // command of recuse-authority; no default
	Resolvers []string // names of Resolvers; none: all
	// Progress is told a line at each step; nil: silence.
	Progress func(line string)
	Log      *slog.Logger // of the lab; nil: silence

	Leases int           // Reverse: size of the lease table; 200
	Delay  time.Duration // Reverse: what the authority adds to every answer about a lease; 0

	// Limit is the limit of the rate that Ramp configures where the resolver has
	// one, in questions a second; 200.
	Limit int
	// Unlimited and Limited choose the runs of Ramp; neither: both.
	Unlimited, Limited bool
	Start, Max         float64       // Ramp: its first rate and its highest; 50, load.MaxRate
	Slow               time.Duration // Ramp: the p99 that a rate must not exceed; 50 ms
	Loss               float64       // Ramp: the share of questions that may be lost; 0.001
	Hold               time.Duration // Ramp: how long a rate is held to be judged; 2 s
	Precision          float64       // Ramp: how close the two rates come between which the limit is; 0.05
}

// withDefaults fills in what was left out and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	set(&o.Leases, 200)
	set(&o.Limit, 200)
	set(&o.Start, 50)
	set(&o.Max, load.MaxRate)
	set(&o.Slow, 50*time.Millisecond)
	set(&o.Loss, 0.001)
	set(&o.Hold, 2*time.Second)
	set(&o.Precision, 0.05)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if !o.Unlimited && !o.Limited {
		o.Unlimited, o.Limited = true, true
	}
	return o, o.check()
}

// check refuses what cannot be.
func (o Options) check() error {
	switch {
	case len(o.Authority) == 0:
		return errors.New("authority: no command")
	case o.Leases < 1 || o.Leases > authority.MaxLeases:
		return fmt.Errorf("leases: %d: must be 1 to %d", o.Leases, authority.MaxLeases)
	case o.Delay < 0:
		return fmt.Errorf("delay: %v: must not be negative", o.Delay)
	case o.Limit < 1:
		return fmt.Errorf("limit: %d: must be at least 1", o.Limit)
	case o.Start <= 0 || o.Start > o.Max || o.Max > load.MaxRate:
		return fmt.Errorf("rates: %v to %v: must be more than 0 and at most %d", o.Start, o.Max, load.MaxRate)
	case o.Slow <= 0:
		return fmt.Errorf("slow: %v: must be more than 0", o.Slow)
	case o.Loss < 0 || o.Loss >= 1:
		return fmt.Errorf("loss: %v: must be at least 0 and less than 1", o.Loss)
	case o.Hold <= 0:
		return fmt.Errorf("hold: %v: must be more than 0", o.Hold)
	case o.Precision <= 0 || o.Precision >= 1:
		return fmt.Errorf("precision: %v: must be between 0 and 1", o.Precision)
	}
	_, err := choose(o.Resolvers)
	return err
}

// set gives a setting its default if it is zero.
func set[T comparable](value *T, def T) {
	var zero T
	if *value == zero {
		*value = def
	}
}
