package bgp

import (
	"errors"
	"net/netip"
	"reflect"
)

// Reasons for which a peer's session ends with its peer.
var (
	errRemoved = errors.New("the peer was removed from the configuration")
	errChanged = errors.New("the peer's configuration changed")
)

// Update takes over a changed configuration while sessions live.
//
// Communities, deprefer and next hops are changed on them, with one UPDATE for
// each changed route and no withdrawal. (Where a peer's own next hop or
// communities change, GoBGP sends that peer all of its routes anew.) A peer
// that is new starts; one that is gone gets Cease, Peer De-configured; one
// whose session is built on something else now gets Cease, Other Configuration
// Change, and starts anew. None of this touches the session of another.
//
// BFD is negotiated anew on its session, begun, or ended with AdminDown, none
// of which touches BGP from our side. (FRR 8.4 and BIRD 2.0 close BGP when they
// hear AdminDown, so with them the end of BFD costs a session.)
//
// After an error nothing has changed; one of what cannot change wraps
// [ErrRestart].
func (s *Speaker) Update(c Config) error {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return err
	}
	extra, err := parseCommunities(c.Communities)
	if err != nil {
		return err
	}
	next, err := s.prepare(c)
	if err != nil {
		return err
	}
	if err := s.replace(c, extra, next); err != nil {
		return err
	}
	for _, p := range s.list() {
		p.review()
	}
	s.notify()
	return nil
}

// prepare makes a peer for each of a configuration, whether it will be needed
// or not.
func (s *Speaker) prepare(c Config) ([]*peer, error) {
	list := make([]*peer, 0, len(c.Peers))
	for _, pc := range c.Peers {
		p, err := s.newPeer(c, pc)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// replace makes c the configuration. Of the prepared peers those are used that
// no living one can stand for.
func (s *Speaker) replace(c Config, extra communities, next []*peer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if err := s.cfg.needsRestart(c, s.routerID); err != nil {
		return err
	}
	marksNew := !reflect.DeepEqual(extra, s.extra)
	s.rekey(s.cfg.Peers, c.Peers)
	s.cfg, s.extra, s.attrs.extra = c, extra, extra
	s.exchange(c, next)
	// Terms before routes: GoBGP applies them to what it sends from then on.
	for _, p := range s.peers {
		if err := p.reterm(s.have, !marksNew); err != nil {
			p.log.Error("bgp routes not sent anew", "error", err)
		}
	}
	if marksNew {
		for prefix := range s.want {
			delete(s.have, prefix)
		}
	}
	if err := s.apply(); err != nil {
		s.log.Error("bgp routes not sent anew", "error", err)
	}
	return nil
}

// exchange puts the next peers in place, keeps those that can stay, and
// dismisses the others. The caller holds mu.
func (s *Speaker) exchange(c Config, next []*peer) {
	was := s.peers
	s.peers = next
	for i, p := range next {
		old := find(was, p.cfg.Address)
		switch {
		case old == nil:
			p.log.Info("bgp peer added", "asn", p.cfg.ASN)
			s.enlist(p)
		case old.cfg.sameSession(p.cfg):
			s.peers[i] = old
			old.soften(p.soft)
			old.life.configure(c.Peers[i].BFD)
		default:
			p.log.Info("bgp peer changed, its session starts anew")
			p.inherit(old)
			old.dismiss(errChanged)
			s.enlist(p)
		}
	}
	for _, old := range was {
		if find(next, old.cfg.Address) == nil {
			old.log.Info("bgp peer removed")
			old.dismiss(errRemoved)
			s.leaving[old.cfg.Address] = old
		}
	}
	for addr, old := range s.leaving {
		if old.ended() {
			delete(s.leaving, addr)
		}
	}
}

// enlist gives a new peer what it lacks and runs it if others run. The caller
// holds mu.
func (s *Speaker) enlist(p *peer) {
	if old := s.leaving[p.cfg.Address]; old != nil {
		p.inherit(old)
		delete(s.leaving, p.cfg.Address)
	}
	if s.core != nil {
		s.equip(p)
	}
	if s.spawn != nil {
		s.spawn(p)
	}
}

// find returns the peer with that address, or nil.
func find(list []*peer, addr netip.Addr) *peer {
	for _, p := range list {
		if p.cfg.Address == addr {
			return p
		}
	}
	return nil
}

// inherit makes p the successor of old, whose session ends first.
func (p *peer) inherit(old *peer) {
	if !old.ended() {
		p.predecessor = old.gone
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	p.state.Marked = old.state.Marked
}

// ended reports whether p runs no more, or never did.
func (p *peer) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return p.cancel == nil
	}
}

// dismiss ends a peer for good, without waiting for it.
func (p *peer) dismiss(why error) {
	if p.cancel != nil {
		p.cancel(why)
	}
}

// soften takes over what may change while a session lives.
func (p *peer) soften(to soft) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.soft = to
}

// reterm makes a live session follow the settings. Routes that are affected
// are sent anew if send is set, else the caller sends all routes.
func (p *peer) reterm(announced routeSet, send bool) error {
	s := p.session()
	p.mu.Lock()
	admitted, was := p.admitted, p.agreed
	p.mu.Unlock()
	if s == nil || !admitted {
		return nil // what comes up asks for the settings by itself
	}
	is := p.terms(p.findHops(s, announced.prefixes()))
	if reflect.DeepEqual(was, is) {
		return nil
	}
	send = send && was.affects(is, announced)
	return p.agree(s, is, send)
}
