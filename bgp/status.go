package bgp

import "time"

// maxReasons bounds the lines about a peer that stays down, since a router's
// own words are among the reasons.
const maxReasons = 20

// snapshot returns the peer's state for others to keep.
func (p *peer) snapshot() PeerState {
	st := p.bgpState()
	st.BFD = p.life.state(st.State == Established.String(), time.Now())
	return st
}

// bgpState is snapshot without BFD.
func (p *peer) bgpState() PeerState {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.state
	st.State = p.stage.String()
	if p.stage == Established {
		st.Sent, st.Seen, st.Gone = p.given.prefixes(), p.seen.seen(), p.seen.gone()
		st.Unmarked = p.seen.unmarked(p.given)
	} else {
		st.EndOfRIB = time.Time{}
	}
	return st
}

// begin makes s the session that counts.
func (p *peer) begin(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.given, p.drift = s, make(tally), ""
	p.admitted, p.agreed = false, terms{}
	p.seen, p.heardAt = newView(p.self), time.Time{}
	p.state.EndOfRIB = time.Time{}
}

// end makes no session count; its late events are ignored from here on.
func (p *peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.given, p.seen = nil, nil, view{}
}

// enter changes the stage outside of a session.
func (p *peer) enter(to State) {
	p.mu.Lock()
	changed := p.move(to)
	p.mu.Unlock()
	if changed {
		p.notify()
	}
}

// advance changes the stage on behalf of s and reports whether s still counts
// and has moved.
func (p *peer) advance(s *session, to State) bool {
	p.mu.Lock()
	changed := p.current == s && p.move(to)
	up := changed && to == Established
	if up {
		p.state.LastError = ""
		clear(p.logged)
	}
	id := p.state.RouterID
	p.mu.Unlock()
	if !changed {
		return false
	}
	if up {
		p.dropInbound()
		p.log.Info("bgp session established", "asn", p.cfg.ASN, "router_id", id, "local", s.local())
	}
	p.notify()
	return true
}

// move is the only writer of the stage. The caller holds mu.
func (p *peer) move(to State) bool {
	if p.stage == to {
		return false
	}
	p.stage, p.state.Since = to, time.Now()
	return true
}

// failed tells why an attempt or a session ended. A reason is logged once
// until the session is up again, however often it is tried.
func (p *peer) failed(end ending, why string) {
	to := Connect
	if end == endRefused || end == endBroken || end == endLimit {
		to = Idle // nothing is tried for a while
	}
	p.mu.Lock()
	was := p.stage
	changed := p.move(to) || p.state.LastError != why
	p.state.LastError = why
	first := !p.logged[why] && len(p.logged) < maxReasons
	if first {
		p.logged[why] = true
	}
	p.mu.Unlock()
	switch {
	case was == Established:
		p.log.Warn("bgp session down", "reason", why)
	case first:
		p.log.Warn("bgp session not up", "reason", why)
	}
	if changed {
		p.notify()
	}
}

// sent counts an UPDATE that was written to the router, whose OPEN is o.
func (p *peer) sent(s *session, o open, msg []byte) {
	r, _ := o.ourDialect().read(msg) // what GoBGP wrote can be read
	p.mu.Lock()
	changed := p.current == s && p.given.sent(r)
	p.mu.Unlock()
	if changed {
		p.notify()
	}
}

// heard reads an UPDATE of the router, whose OPEN is o.
func (p *peer) heard(s *session, o open, msg []byte) {
	r, err := o.dialect().read(msg)
	now := time.Now()
	p.mu.Lock()
	if p.current != s {
		p.mu.Unlock()
		return
	}
	changed, marked := p.seen.received(r, err != nil)
	changed = changed || marked && !p.state.Marked
	p.state.Marked = p.state.Marked || marked
	p.heardAt = now
	if p.state.EndOfRIB.IsZero() && p.seen.ended(o) {
		p.state.EndOfRIB, changed = now, true
	}
	p.mu.Unlock()
	if changed {
		p.notify()
	}
}

// settle takes a router's silence for End-of-RIB, or returns how long to wait
// before it may be asked again.
func (p *peer) settle(s *session) time.Duration {
	now := time.Now()
	p.mu.Lock()
	if p.current != s || p.stage != Established || !p.state.EndOfRIB.IsZero() {
		p.mu.Unlock()
		return 0
	}
	if wait := moreRIB(p.state.Since, p.heardAt, now); wait > 0 {
		p.mu.Unlock()
		return wait
	}
	p.state.EndOfRIB = now
	p.mu.Unlock()
	p.notify()
	return 0
}

// session returns the session if it is established, else nil.
func (p *peer) session() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage != Established {
		return nil
	}
	return p.current
}
