package bfd

import "time"

// schedule sets both timers after anything may have changed. Its caller holds
// the mutex.
func (s *Session) schedule(now time.Time) {
	s.schedulePacer(now)
	s.scheduleWatch(now)
}

// schedulePacer plans the next periodic packet anew if the interval changed.
// The wait counts from the last packet: a shorter interval is honored at once
// (RFC 5880, section 6.8.3), not when the longer one ends.
func (s *Session) schedulePacer(now time.Time) {
	if !s.m.periodic() {
		s.due, s.paced = time.Time{}, 0
		s.pacer.Stop()
		return
	}
	if interval := s.m.txInterval(); interval != s.paced {
		s.paced = interval
		s.due = s.sent.Add(s.wait())
		if s.due.Before(now) {
			s.due = now
		}
		s.pacer.Reset(s.due.Sub(now))
	}
}

// wait returns the jittered time between two packets.
func (s *Session) wait() time.Duration {
	return jitter(s.paced, s.m.detectMult, s.engine.random())
}

// transmit sends a periodic packet. The pacer runs it, in a goroutine of its
// own; a run that comes too early, because the schedule moved, does nothing.
func (s *Session) transmit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.closed || s.due.IsZero() || now.Before(s.due) {
		return
	}
	s.record.lateness.add(now.Sub(s.due))
	s.send(false, now)
	s.due = now.Add(s.wait())
	s.pacer.Reset(s.due.Sub(now))
}

// send sends a packet now, unless the engine's owner is not alive. Its caller
// holds the mutex.
func (s *Session) send(final bool, now time.Time) {
	if !s.engine.alive() {
		s.record.withheld++
		return
	}
	var buf [maxPacketLen]byte
	m, b := s.m.emit(buf[:0], final)
	s.m, s.sent = m, now
	s.record.sending(s.link.send(b), now)
}

// expiry returns when the peer counts as gone, unless it is heard again.
func (s *Session) expiry() time.Time { return s.heard.Add(s.m.detection()) }

// scheduleWatch sets the watch to the end of the detection time.
func (s *Session) scheduleWatch(now time.Time) {
	if !s.m.watching() {
		s.watch.Stop()
		return
	}
	s.watch.Reset(s.expiry().Sub(now))
}

// expire judges the peer's silence. The watch runs it, in a goroutine of its
// own. On a busy machine this goroutine may run while packets that arrived in
// time still wait in the socket: they are handled first.
func (s *Session) expire() {
	if !s.overdue() {
		return
	}
	s.link.drain()

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.m.watching() {
		return
	}
	now := time.Now()
	if now.Before(s.expiry()) {
		s.record.averted++
		s.scheduleWatch(now)
		return
	}
	var e effect
	s.m, e = s.m.expire()
	s.carryOut(e)
}

// overdue reports whether the detection time is over, as far as is known. If
// it is not, the watch is set for the rest.
func (s *Session) overdue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.m.watching() {
		return false
	}
	now := time.Now()
	if now.Before(s.expiry()) {
		s.scheduleWatch(now)
		return false
	}
	return true
}
