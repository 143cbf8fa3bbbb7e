package bgp

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"recuse/bgp/bfd"
)

// beat is the BFD engine of a Speaker, made when a first peer wants it.
type beat struct {
	log   *slog.Logger
	alive atomic.Pointer[func() bool]
	// patience ends, by giveUp, when nobody waits for good-byes any more.
	patience context.Context
	giveUp   context.CancelFunc

	mu     sync.Mutex
	engine *bfd.Engine
	policy string    // how the process is scheduled
	asked  time.Time // when that was last looked up
}

// newBeat returns a beat without an engine.
func newBeat(log *slog.Logger) *beat {
	b := &beat{log: log}
	b.patience, b.giveUp = context.WithCancel(context.Background())
	return b
}

// scheduleEvery is how often the kernel is asked how it schedules us.
const scheduleEvery = 10 * time.Second

// scheduling says how the process is scheduled, in words.
func (b *beat) scheduling(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked.IsZero() || now.Sub(b.asked) >= scheduleEvery {
		b.asked, b.policy = now, "unknown"
		if how, err := bfd.CurrentScheduling(); err == nil {
			b.policy = how.String()
		}
	}
	return b.policy
}

// get returns the engine.
func (b *beat) get() *bfd.Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine == nil {
		b.engine = bfd.New(bfd.Options{Log: b.log, Alive: b.isAlive})
	}
	return b.engine
}

// isAlive asks the gate, which is open as long as nobody set one.
func (b *beat) isAlive() bool {
	f := b.alive.Load()
	return f == nil || (*f)()
}

// stop closes the engine, if there is one. The sessions have ended before.
func (b *beat) stop() {
	b.mu.Lock()
	e := b.engine
	b.mu.Unlock()
	if e != nil {
		e.Close()
	}
}
