package catchment

import (
	"context"
	"sync"
	"time"
)

// pace spaces questions evenly. It is safe for concurrent use.
type pace struct {
	gap time.Duration

	mu   sync.Mutex
	next time.Time // when the next question may leave
}

// wait returns when it is the caller's turn, or with the error of ctx.
func (p *pace) wait(ctx context.Context) error {
	turn := time.NewTimer(time.Until(p.take()))
	defer turn.Stop()
	select {
	case <-turn.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take reserves the next turn. What was missed is not made up for: a burst is
// what a limit of rates drops.
func (p *pace) take() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn := p.next
	if now := time.Now(); turn.Before(now) {
		turn = now
	}
	p.next = turn.Add(p.gap)
	return turn
}
