package bfd

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
)

// ErrClosed is returned by Engine.Add after Engine.Close.
var ErrClosed = errors.New("the BFD engine is closed")

// Options are the settings of an Engine. The zero value is usable.
type Options struct {
	// Log gets one line for each transition. Nil discards them.
	Log *slog.Logger

	// Alive is asked before each packet is sent. While it says no nothing
	// leaves, so that peers find out within their detection time: a packet is
	// the promise that whoever stands behind this process still works. It is
	// called often, from many goroutines, and must return at once. Nil always
	// says yes.
	Alive func() bool
}

// An Engine holds sessions and the sockets that they share: one for each
// port and family that any session has needed. Its methods may be called from
// any goroutine.
type Engine struct {
	log       *slog.Logger
	alive     func() bool
	random    func() float64 // for jitter, in [0, 1)
	draw      func() uint32  // for discriminators
	transport transport
	events    *events

	mu      sync.RWMutex
	closed  bool
	byDiscr map[uint32]*Session
	byPeer  map[netip.Addr][]*Session

	strayMu sync.Mutex
	stray   discardCounts // packets that no session got
}

// A transport makes the links of sessions and gives the engine what arrives.
type transport interface {
	// open makes sure that packets to the session's port are received and
	// returns the session's link. It fails if another process has the port.
	open(c *Config) (link, error)
	// close ends all reception; deliver is not called afterwards.
	close()
}

// New returns an engine without sessions and without sockets.
func New(o Options) *Engine {
	e := newEngine(o)
	e.transport = newSockets(e.deliver)
	return e
}

// newEngine returns an engine that lacks only its transport.
func newEngine(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Alive == nil {
		o.Alive = func() bool { return true }
	}
	e := &Engine{
		log:     o.Log,
		alive:   o.Alive,
		random:  rand.Float64,
		draw:    random32,
		byDiscr: make(map[uint32]*Session),
		byPeer:  make(map[netip.Addr][]*Session),
	}
	e.events = newEvents(e.log)
	return e
}

// Add begins a session. From then on notify, if not nil, is called for each
// of its transitions: in their order, from one goroutine that serves the whole
// engine and that no packet waits for. That may begin before Add returns.
// notify may call methods of sessions and Engine.Add, but not Engine.Close.
//
// A peer, an interface or a local address that is not there yet is no error:
// the session keeps trying. A port that another process holds is one.
func (e *Engine) Add(c Config, notify func(Event)) (*Session, error) {
	c = c.normalize()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("failed to add session with %v: %w", c.Peer, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.admit(&c); err != nil {
		return nil, fmt.Errorf("failed to add session with %v: %w", c.Peer, err)
	}
	l, err := e.transport.open(&c)
	if err != nil {
		return nil, fmt.Errorf("failed to add session with %v: %w", c.Peer, err)
	}
	discr := e.discriminator()
	s := &Session{
		engine: e, notify: notify, discr: discr, conf: c, link: l,
		m: newMachine(c.machine(), discr, random32()),
	}
	e.byDiscr[discr] = s
	e.byPeer[c.Peer] = append(e.byPeer[c.Peer], s)
	s.start()
	return s, nil
}

// admit tells whether there is room for a session like c: two that a first
// packet could not tell apart cannot be.
func (e *Engine) admit(c *Config) error {
	if e.closed {
		return ErrClosed
	}
	for _, s := range e.byPeer[c.Peer] {
		if s.conf.Local == c.Local && s.conf.Interface == c.Interface && s.conf.Multihop == c.Multihop {
			return errors.New("there is one already")
		}
	}
	return nil
}

// discriminator returns a random number that is not zero and no session's
// (RFC 5880, section 6.3). Its caller holds the mutex.
func (e *Engine) discriminator() uint32 {
	for {
		d := e.draw()
		if d != 0 && e.byDiscr[d] == nil {
			return d
		}
	}
}

// random32 returns a number that nobody can guess: who knows a discriminator
// could speak for the peer of a session without authentication.
func random32() uint32 {
	var b [4]byte
	crand.Read(b[:]) // never fails
	return binary.NativeEndian.Uint32(b[:])
}

// remove takes a session out of the tables, if it is in them.
func (e *Engine) remove(s *Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byDiscr, s.discr)
	peer := s.conf.Peer
	for i, other := range e.byPeer[peer] {
		if other == s {
			e.byPeer[peer] = append(e.byPeer[peer][:i:i], e.byPeer[peer][i+1:]...)
		}
	}
	if len(e.byPeer[peer]) == 0 {
		delete(e.byPeer, peer)
	}
}

// Discarded counts the packets that no session got, by reason. Those that a
// session got and refused are in its Status.
func (e *Engine) Discarded() map[Discard]uint64 {
	e.strayMu.Lock()
	defer e.strayMu.Unlock()
	return e.stray.snapshot()
}

// Shutdown takes all sessions down as Session.Shutdown does, at the same time,
// and closes the engine. If ctx ends it returns its error, the engine closed
// all the same.
func (e *Engine) Shutdown(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, s := range e.sessions() {
		wg.Go(func() { s.Shutdown(ctx) })
	}
	wg.Wait()
	e.Close()
	return ctx.Err()
}

// sessions returns all sessions, and lets no new one in.
func (e *Engine) sessions() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	var all []*Session
	for _, s := range e.byDiscr {
		all = append(all, s)
	}
	return all
}

// Close ends all sessions without a word to their peers (Shutdown is the
// polite way) and releases the sockets. It waits for a call of notify that
// is under way, and so must not be called from one.
func (e *Engine) Close() {
	for _, s := range e.sessions() {
		s.Remove()
	}
	e.transport.close()
	e.events.close()
}
