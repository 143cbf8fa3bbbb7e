package bgp

import (
	"context"
	"errors"
	"io"
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
	out    *tap // what was written to the router

	// write guards the router's sending direction, so that a last word of
	// ours goes between two messages, and nothing after it.
	write sync.Mutex
	ended bool

	up chan struct{} // closed once Established
	e  endNote
}

// newSession prepares a session over a connection with p's router.
func newSession(p *peer, router *net.TCPConn) *session {
	s := &session{peer: p, router: router, up: make(chan struct{})}
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
	done := make(chan error, 2)
	go func() { done <- s.fromRouter() }()
	go func() { done <- s.fromCore() }()
	err = s.hold(ctx, done)
	s.finish(done)
	return s.e.verdict(s.peer, err)
}

// hold waits for the first of the two directions to end, and does what is to
// be done meanwhile.
func (s *session) hold(ctx context.Context, done <-chan error) error {
	patience := time.NewTimer(openTimeout)
	defer patience.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	up, stop := s.up, ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case <-up:
			up = nil
			patience.Stop()
			s.peer.open(s)
			look.Reset(lookSoon)
		case <-patience.C:
			s.e.slow()
			_ = s.link.conn.Close()
		case <-look.C:
			if s.peer.lookAfter(s) {
				look.Reset(lookEvery)
			}
		case <-stop:
			stop = nil
			s.last(cease(ceaseShutdown, s.peer.farewell()), "")
		}
	}
}

// finish lets the router read what was sent last, closes both connections and
// waits for the other direction.
func (s *session) finish(done <-chan error) {
	s.write.Lock()
	s.ended = true
	_ = s.router.CloseWrite()
	s.write.Unlock()
	_ = s.router.SetReadDeadline(time.Now().Add(lingerTimeout))
	_ = s.link.conn.Close()
	<-done
	_ = s.router.Close()
	s.link.close()
}

// fromRouter passes on what the router sends. When GoBGP has closed, the rest is read and thrown away: closing on unread bytes
// would reset the connection and lose our NOTIFICATION.
func (s *session) fromRouter() error {
	in := &tap{see: s.heard}
	buf := make([]byte, 4096)
	var deaf bool
	for {
		n, err := s.router.Read(buf)
		if n > 0 && !deaf {
			in.feed(buf[:n])
			_, werr := s.link.conn.Write(buf[:n])
			deaf = werr != nil
		}
		if err != nil {
			return err
		}
	}
}

// fromCore passes on what GoBGP sends.
func (s *session) fromCore() error {
	buf := make([]byte, 4096)
	for {
		n, err := s.link.conn.Read(buf)
		if n > 0 {
			if werr := s.toRouter(buf[:n]); werr != nil {
				return werr
			}
		}
		if err != nil {
			return io.EOF // GoBGP ended it, and has said why to the router
		}
	}
}

// errEnded says that the last word was spoken.
var errEnded = errors.New("session ended")

// toRouter writes and counts.
func (s *session) toRouter(b []byte) error {
	s.write.Lock()
	defer s.write.Unlock()
	if s.ended {
		return errEnded
	}
	if _, err := s.router.Write(b); err != nil {
		return err
	}
	s.out.feed(b)
	return nil
}

// last sends our last word and ends the session. why, if not empty, is the
// reason in words for status and log.
func (s *session) last(n notification, why string) {
	s.write.Lock()
	defer s.write.Unlock()
	if s.ended {
		return
	}
	s.e.sent(n, why)
	s.ended = true
	if s.out.between() {
		_ = s.router.SetWriteDeadline(time.Now().Add(lingerTimeout))
		_, _ = s.router.Write(n.message())
	}
	_ = s.link.conn.Close()
}

// heard reads what the router says.
func (s *session) heard(msg []byte) {
	switch msg[18] {
	case typeOpen:
		if o, ok := parseOpen(msg); ok && s.e.opened(o) {
			s.peer.met(s, o)
		}
	case typeNotification:
		if n, ok := parseNotification(msg); ok {
			s.e.received(n)
		}
	}
}

// wrote reads what GoBGP has said to the router.
func (s *session) wrote(msg []byte) {
	switch msg[18] {
	case typeUpdate:
		s.peer.sent(s, msg)
	case typeNotification:
		if n, ok := parseNotification(msg); ok {
			s.e.sent(n, "")
		}
	}
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
