package bgp

import "time"

// maxReasons bounds the lines about a peer that stays down, since a router's
// own words are among the reasons.
const maxReasons = 20

// snapshot returns the peer's state for others to keep.
func (p *peer) snapshot() PeerState {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.state
	st.State = p.stage.String()
	if p.stage == Established {
		st.Sent = p.given.prefixes()
	} else {
		st.Sent = nil
	}
	return st
}

// begin makes s the session that counts.
func (p *peer) begin(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.given, p.hops, p.drift = s, make(tally), hops{}, ""
}

// end makes no session count; its late events are ignored from here on.
func (p *peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.given = nil, nil
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

// sent counts an UPDATE that was written to the router.
func (p *peer) sent(s *session, msg []byte) {
	p.mu.Lock()
	changed := p.current == s && p.given.sent(msg)
	p.mu.Unlock()
	if changed {
		p.notify()
	}
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
