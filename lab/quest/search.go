package quest

import (
	"context"
	"fmt"
)

// verdict is what came of one try of a rate.
type verdict struct {
	held bool
	why  string // it was not held
}

// bounds are what a search found: a rate that was held and the lowest one above
// it that was not. Fails is 0 if every rate up to the highest was held, Held is
// 0 if none was.
type bounds struct {
	Held, Fails float64
	Why         string // Fails failed
}

// search finds the rate up to which try holds: it doubles the rate from start on
// until one fails or highest is held, then halves what lies between, until the
// two bounds are within the precision (as a share). A rate counts as failed when
// it fails twice, since one stall of the box is no limit of the resolver.
func search(ctx context.Context, start, highest, precision float64,
	try func(ctx context.Context, rate float64) (verdict, error)) (bounds, error) {
	var b bounds
	for rate := start; b.Fails == 0; rate = min(2*rate, highest) {
		if err := b.test(ctx, rate, try); err != nil {
			return b, err
		}
		if b.Held == highest {
			return b, nil
		}
	}
	for b.Held > 0 && b.Fails > b.Held*(1+precision) {
		if err := b.test(ctx, (b.Held+b.Fails)/2, try); err != nil {
			return b, err
		}
	}
	return b, nil
}

// test tries a rate, once more if it fails, and moves one of the bounds to it.
func (b *bounds) test(ctx context.Context, rate float64,
	try func(ctx context.Context, rate float64) (verdict, error)) error {
	var v verdict
	for range 2 {
		var err error
		if v, err = try(ctx, rate); err != nil {
			return fmt.Errorf("failed to try %.0f questions a second: %w", rate, err)
		}
		if v.held {
			b.Held = rate
			return nil
		}
	}
	b.Fails, b.Why = rate, v.why
	return nil
}
