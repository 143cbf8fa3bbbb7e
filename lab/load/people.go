package load

import (
	"context"
	"time"
)

// Brief is a duration for people: to the millisecond, and a short one finer.
func Brief(d time.Duration) string {
	switch {
	case d == Infinite:
		return "infinite"
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// Pause lets time pass under the questions, unless ctx ends: then its cause is
// the error.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
