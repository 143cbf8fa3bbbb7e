package bgp

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// openTimeout bounds the time from the TCP connection to Established.
	openTimeout = 10 * time.Second
	// lingerTimeout is how long a router may take to read our last words.
	lingerTimeout = time.Second
	// briefLinger is the same for one that BFD says is gone.
	briefLinger = 50 * time.Millisecond
	// lookSoon and lookEvery are when a session is looked after: soon once it
	// is up, then every so often.
	lookSoon  = 100 * time.Millisecond
	lookEvery = 2 * time.Second
)

// session is one connection with a router, from TCP to its end.
type session struct {
	peer   *peer
	router *net.TCPConn
	link   *link
	e      endNote
	linger time.Duration // for the end; of the goroutine in run
	up     chan struct{} // closed once Established

	// write guards the router's sending direction, so that a last word of
	// ours goes between two messages, and nothing after it.
	write sync.Mutex
	ended bool
	out   *tap // what was written to the router

	lost     chan string   // holds one if BFD went down, in words
	over     chan struct{} // closed by the first reason to end
	overOnce sync.Once
	cause    error
}

// newSession prepares a session over a connection with p's router.
func newSession(p *peer, router *net.TCPConn) *session {
	s := &session{peer: p, router: router, up: make(chan struct{}), over: make(chan struct{}),
		lost: make(chan string, 1), linger: lingerTimeout}
	s.out = &tap{see: s.wrote}
	return s
}

// run holds the session until one side ends it or ctx is done, and returns how
// it ended. It closes the router's connection.
func (s *session) run(ctx context.Context) (ending, string) {
	link, err := s.peer.core.connect(ctx, s.peer.cfg, s.event)
	if err != nil {
		_ = s.router.Close()
		return endUnreached, err.Error()
	}
	s.link = link
	var directions sync.WaitGroup
	directions.Go(s.fromRouter)
	directions.Go(s.fromCore)
	s.hold(ctx)
	s.finish()
	directions.Wait()
	_ = s.router.Close()
	_ = s.link.conn.Close()
	return s.e.verdict(s.peer, s.cause)
}

// end gives the first reason to end.
func (s *session) end(cause error) {
	s.overOnce.Do(func() {
		s.cause = cause
		close(s.over)
	})
}

// hold waits for a reason to end, and does what is to be done meanwhile.
func (s *session) hold(ctx context.Context) {
	patience := time.NewTimer(openTimeout)
	defer patience.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	silence := time.NewTimer(quietRIB)
	defer silence.Stop()
	up, stop := s.up, ctx.Done()
	for {
		select {
		case <-s.over:
			return
		case <-up:
			up = nil
			patience.Stop()
			s.peer.admit(s)
			look.Reset(lookSoon)
			silence.Reset(quietRIB)
		case <-silence.C:
			if wait := s.peer.settle(s); wait > 0 {
				silence.Reset(wait)
			}
		case <-patience.C:
			s.e.slow()
			s.end(errSlow)
		case <-look.C:
			if s.peer.lookAfter(s) {
				look.Reset(lookEvery)
			}
		case why := <-s.lost:
			s.linger = briefLinger
			s.last(cease(ceaseBFD, ""), why)
		case <-stop:
			stop = nil
			s.last(s.peer.goodbye(ctx), "")
		}
	}
}

// finish lets the router read what was sent last and makes GoBGP close its
// side, after which both directions end by themselves, after the linger time at
// the latest.
//
// GoBGP closes first: one that finds its connection closed leaves a goroutine
// behind for ever.
func (s *session) finish() {
	soon := time.Now().Add(s.linger)
	_ = s.router.SetWriteDeadline(soon) // frees a writer that hangs
	s.write.Lock()
	s.ended = true
	_ = s.router.CloseWrite()
	s.write.Unlock()
	_ = s.router.SetReadDeadline(soon)
	_ = s.link.conn.SetReadDeadline(soon)
	s.link.retire()
}

// event is GoBGP's change of state. It comes from GoBGP's watcher.
func (s *session) event(e coreEvent) {
	if e.state < OpenSent {
		return
	}
	if s.peer.advance(s, e.state) && e.state == Established {
		s.e.established()
		close(s.up)
	}
}

// local is our address on the session.
func (s *session) local() netip.Addr {
	return s.router.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}
