package bgp

import (
	"errors"
	"time"
)

// Reasons to end that are not an error of a connection.
var (
	errEnded = errors.New("session ended")
	errCore  = errors.New("the BGP server ended the session")
	errSlow  = errors.New("the session did not come up in time")
)

// fromRouter passes on what the router sends. Once the session is to end, the
// rest is read and thrown away: closing on unread bytes would reset the
// connection and lose our NOTIFICATION.
func (s *session) fromRouter() {
	in := &tap{see: s.heard}
	buf := make([]byte, 4096)
	for {
		n, err := s.router.Read(buf)
		if n > 0 && !s.isOver() {
			in.feed(buf[:n])
			s.toCore(buf[:n])
		}
		if err != nil {
			s.end(err)
			return
		}
	}
}

// toCore passes bytes to GoBGP, but none of a NOTIFICATION that was heard: we
// end the session ourselves.
func (s *session) toCore(b []byte) {
	if s.isOver() {
		return
	}
	// An error means that GoBGP has closed; fromCore sees that too, after it
	// has read why.
	_, _ = s.link.conn.Write(b)
}

// isOver reports whether there is a reason to end.
func (s *session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// fromCore passes on what GoBGP sends, until GoBGP closes.
func (s *session) fromCore() {
	buf := make([]byte, 4096)
	for {
		n, err := s.link.conn.Read(buf)
		if n > 0 {
			if werr := s.toRouter(buf[:n]); werr != nil {
				s.end(werr)
			}
		}
		if err != nil {
			s.end(errCore)
			return
		}
	}
}

// toRouter writes and counts.
func (s *session) toRouter(b []byte) error {
	s.write.Lock()
	defer s.write.Unlock()
	if s.ended {
		return errEnded
	}
	if _, err := s.router.Write(b); err != nil {
		s.ended = true // perhaps within a message
		return err
	}
	s.out.feed(b)
	return nil
}

// last sends our last word and ends the session. why, if not empty, is the
// reason in words for status and log. Only the goroutine in run calls it.
func (s *session) last(n notification, why string) {
	defer s.end(errEnded)
	_ = s.router.SetWriteDeadline(time.Now().Add(s.linger))
	s.write.Lock()
	defer s.write.Unlock()
	if s.ended {
		return
	}
	s.e.sent(n, why)
	s.ended = true
	if s.out.between() {
		_, _ = s.router.Write(n.message())
	}
}

// heard reads what the router says.
func (s *session) heard(msg []byte) {
	switch msg[18] {
	case typeOpen:
		if o, ok := parseOpen(msg); ok && s.e.opened(o) {
			s.peer.met(s, o)
		}
	case typeUpdate:
		if o := s.e.peerOpen(); o != nil {
			s.peer.heard(s, *o, msg)
		}
	case typeNotification:
		if n, ok := parseNotification(msg); ok {
			s.e.received(n)
			s.end(errEnded)
		}
	}
}

// wrote reads what GoBGP has said to the router.
func (s *session) wrote(msg []byte) {
	switch msg[18] {
	case typeUpdate:
		if o := s.e.peerOpen(); o != nil {
			s.peer.sent(s, *o, msg)
		}
	case typeNotification:
		if n, ok := parseNotification(msg); ok {
			s.e.sent(n, "")
		}
	}
}
