package bfd

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// A Session is one end of a BFD session. Make one with Engine.Add. Its methods
// may be called from any goroutine, also from a notify function.
type Session struct {
	engine *Engine
	notify func(Event)
	discr  uint32 // the machine's localDiscr
	conf   Config // as it was added, normalized
	link   link

	mu     sync.Mutex // guards all below; never held while events are told
	closed bool
	m      machine
	record record

	heard time.Time   // when the last accepted packet arrived
	watch *time.Timer // fires once heard is a detection time ago

	sent  time.Time     // when the last packet left
	due   time.Time     // when the next one is to leave; zero: not by the clock
	paced time.Duration // the interval with which due was planned
	pacer *time.Timer   // fires when due
}

// A link is a session's way to its peer. Its methods but drain are called
// with the session's mutex held.
type link interface {
	// send sends one packet. An error is transient: the next call tries anew.
	send(b []byte) error
	// matches reports whether a packet whose Your Discriminator is zero can be
	// the session's.
	matches(d *datagram) bool
	// local returns the address that send uses, if it is known.
	local() netip.Addr
	// drain has the engine handle every packet that has arrived. It returns
	// only when none is in the hands of another goroutine.
	drain()
	close()
}

// start lets a new session send its first packet.
func (s *Session) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conf.AdminDown {
		s.m, _ = s.m.administer(true)
	}
	now := time.Now()
	s.record.state, s.record.since = s.m.state, now
	s.pacer = stoppedTimer(s.transmit)
	s.watch = stoppedTimer(s.expire)
	s.schedule(now)
}

// stoppedTimer returns a timer that runs f each time after it was reset.
func stoppedTimer(f func()) *time.Timer {
	t := time.AfterFunc(time.Hour, f)
	t.Stop()
	return t
}

// receive hands the session a packet that is its own.
func (s *Session) receive(p *Packet, d *datagram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	m, e := s.m.receive(arrival{
		packet: *p, raw: d.payload, ttl: d.ttl, silence: d.at.Sub(s.heard),
	})
	s.m = m
	s.record.received(e.discard, d.at)
	if e.discard == Accepted && d.at.After(s.heard) {
		s.heard = d.at
	}
	s.carryOut(e)
}

// carryOut does what the machine asks for after an event. An answer to a Poll
// tells what is new as well.
func (s *Session) carryOut(e effect) {
	now := time.Now()
	if e.reason != ReasonNone {
		s.engine.tell(s, s.record.transition(&s.m, e.reason, now))
	}
	if e.final || e.urgent {
		s.send(e.final, now)
	}
	s.schedule(now)
}

// SetAdminDown takes the session down, which the peer is told at once and
// from then on periodically, or lets it come up again.
//
// RFC 5882 has the peer's clients ignore it, but BGP in FRR 8.4 and BIRD 2.0
// closes: so close BGP first.
func (s *Session) SetAdminDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	var e effect
	s.m, e = s.m.administer(down)
	s.carryOut(e)
}

// Update changes the intervals and the multiplier of a session, which stays
// up: the peer learns of them by a Poll Sequence.
func (s *Session) Update(i Intervals) error {
	i = i.normalize()
	if err := i.validate(); err != nil {
		return fmt.Errorf("failed to update session with %v: %w", s.conf.Peer, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	var e effect
	s.m, e = s.m.update(i.DesiredMinTx, i.RequiredMinRx, i.Multiplier)
	s.carryOut(e)
	return nil
}

// Shutdown takes the session down, keeps saying so for the time in which the
// peer would find out by itself (RFC 5880, section 6.8.16), and removes the
// session. If the session is down already it does not wait. If ctx ends it
// returns its error, the session removed all the same.
func (s *Session) Shutdown(ctx context.Context) error {
	defer s.Remove()
	st := s.Status()
	s.SetAdminDown(true)
	if st.State != Init && st.State != Up {
		return nil
	}
	select {
	case <-time.After(st.RemoteDetection):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Remove ends the session without a word to the peer. Nothing is notified
// afterwards, except by a call of notify that is already under way.
func (s *Session) Remove() {
	s.engine.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	s.pacer.Stop()
	s.watch.Stop()
	s.link.close()
}

// live reports whether the session's events are still to be told.
func (s *Session) live() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed
}

// matches reports whether a packet without Your Discriminator can be this
// session's.
func (s *Session) matches(d *datagram) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conf.Multihop == d.multihop && s.link.matches(d)
}
