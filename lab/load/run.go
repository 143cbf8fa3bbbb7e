package load

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"recuse/lab/urgent"
)

// Run sends questions until the duration is over or ctx ends, waits for the end
// of those under way, and returns all records in the order of intended times.
// The end of ctx is no error: what was sent is counted.
func Run(ctx context.Context, c Config) ([]Record, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("failed to run load: %w", err)
	}
	c = c.withDefaults()
	mix, err := templates(c.Mix)
	if err != nil {
		return nil, fmt.Errorf("failed to run load: %w", err)
	}
	allowFiles(c.Rate)
	n, start := newNames(), time.Now()
	w, err := newSockets(c, mix, start, n)
	if err != nil {
		return nil, fmt.Errorf("failed to run load: %w", err)
	}
	defer w.close()
	defer urgent.Begin()()
	results := newCollector(c, mix, start, n)
	l := newLoop(c, mix, start, w, n, results)
	stop := context.AfterFunc(ctx, l.stop)
	defer stop()
	go func() {
		runtime.LockOSThread() // never unlocked: the thread's urgency ends with it
		urgent.Thread()
		l.run()
	}()
	return results.wait(), nil
}

// stop ends the sending.
func (l *loop) stop() {
	l.stopped.Store(true)
	l.wire.wake()
}
