package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Watchdog times. The loop runs at least every pulseEvery, so that a silence of
// stuckAfter means that it cannot run.
const (
	pulseEvery = 500 * time.Millisecond
	stuckAfter = 3 * time.Second
)

// ErrStuck tells that the deciding goroutine does not run any more though the
// process does. What it promised to the routers is not kept, so the process
// must end: its sessions close, the routes go, and a supervisor starts it anew.
var ErrStuck = errors.New("the deciding goroutine does not run any more")

// pulse is the proof that the loop runs.
type pulse struct{ last atomic.Int64 }

// epoch makes monotonic readings comparable as integers.
var epoch = time.Now()

// beat notes that the loop runs now.
func (p *pulse) beat() { p.last.Store(int64(time.Since(epoch))) }

// silent is for how long the loop has not run.
func (p *pulse) silent() time.Duration {
	return time.Since(epoch) - time.Duration(p.last.Load())
}

// alive tells whether the loop still decides.
func (p *pulse) alive() bool { return p.silent() < stuckAfter }

// watch returns ErrStuck when the loop has been silent for too long, or nil
// when ctx ends. A silence in which the watchdog itself did not run says
// nothing of the loop: the whole process was stopped.
func (p *pulse) watch(ctx context.Context) error {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	seen, last := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := time.Now()
		if onTime := now.Sub(last) < 2*pulseEvery; p.alive() || !onTime {
			seen = 0
		} else if seen++; seen > 1 {
			return ErrStuck
		}
		last = now
	}
}
