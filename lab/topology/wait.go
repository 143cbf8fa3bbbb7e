package topology

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is the pause between two looks at a condition.
const pollEvery = 10 * time.Millisecond

// readyWithin is how long a daemon may take to be ready. It is that long for the
// sake of a box with more to do than it can; a daemon that ends is not awaited.
const readyWithin = 30 * time.Second

// WaitFor looks at a condition until it says yes. The condition's text is what
// it saw, for the error that says how things stood when ctx ended.
func WaitFor(ctx context.Context, what string, condition func() (ok bool, saw string)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	start := time.Now()
	for {
		ok, saw := condition()
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("failed to see %s within %v: %w; last seen: %s",
				what, time.Since(start).Round(time.Millisecond), context.Cause(ctx), saw)
		}
	}
}

// ready waits for a condition of a process that has been started, and no longer
// than the process lives.
func (p *Process) ready(ctx context.Context, what string, condition func() (bool, string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return Within(ctx, readyWithin, what, func() (bool, string) {
		if !p.Running() {
			cancel(fmt.Errorf("%s has ended", p.Name))
			return false, p.Log()
		}
		return condition()
	})
}

// Within is WaitFor with a deadline of its own.
func Within(ctx context.Context, d time.Duration, what string, condition func() (bool, string)) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return WaitFor(ctx, what, condition)
}
