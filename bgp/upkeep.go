package bgp

import (
	"fmt"
	"net/netip"
)

// met notes what the router's OPEN says.
func (p *peer) met(s *session, o open) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == s {
		p.state.RouterID = o.routerID
	}
}

// admit lets routes go to a session that has just come up. GoBGP sends its
// table at that moment and takes the session for established only a moment
// later; a change in between would get lost. So up to here the session has no
// terms, which makes GoBGP's first table empty, and the routes follow now.
func (p *peer) admit(s *session) {
	var err error
	p.exclusively(func(announced []netip.Prefix) {
		err = p.agree(s, p.terms(p.findHops(s, announced)), true)
	})
	if err != nil {
		p.log.Error("bgp routes not sent", "error", err)
	}
	p.review()
}

// agree sets the terms for s, and sends it all routes if send is set. No route
// may change meanwhile.
func (p *peer) agree(s *session, t terms, send bool) error {
	if err := s.link.permit(t); err != nil {
		return err
	}
	if send {
		if err := s.link.refresh(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == s {
		p.admitted, p.agreed = true, t
	}
	return nil
}

// findHops looks for the next hops of a session that is to have these routes.
func (p *peer) findHops(s *session, announced []netip.Prefix) hops {
	o := s.e.peerOpen()
	if o == nil {
		return hops{}
	}
	c := p.cfg
	p.mu.Lock()
	c.NextHopV4, c.NextHopV6 = p.soft.hopV4, p.soft.hopV6
	p.mu.Unlock()
	present := interfaceAddrs(c.Interface, s.local())
	return chooseHops(c, s.local(), withoutService(present, announced), *o)
}

// terms are the conditions for routes to this router.
func (p *peer) terms(h hops) terms {
	p.mu.Lock()
	defer p.mu.Unlock()
	return terms{external: p.external, asn: p.asn, deprefer: p.soft.deprefer, extra: p.soft.extra, hops: h}
}

// lookAfter follows the interface's addresses and compares what the router has
// been given with what it is to have. It returns whether all is well.
func (p *peer) lookAfter(s *session) bool {
	if p.session() != s {
		return true
	}
	var h hops
	p.exclusively(func(announced []netip.Prefix) {
		h = p.findHops(s, announced)
		p.mu.Lock()
		was := p.agreed.hops
		p.mu.Unlock()
		if h.same(was) {
			return
		}
		p.log.Info("bgp next hops changed", "v4", h.v4, "v6", h.v6)
		if err := p.agree(s, p.terms(h), true); err != nil {
			p.log.Error("bgp routes not sent anew", "error", err)
		}
	})
	p.review()
	return p.audit(s, h)
}

// audit acts on a difference that two looks in a row have found the same:
// missing routes are sent anew; a route too many, which nothing can take back
// but its withdrawal, ends the session. It returns false after a first look.
func (p *peer) audit(s *session, h hops) bool {
	missing, excess := p.compare(h)
	found := fmt.Sprint(missing, excess)
	p.mu.Lock()
	again := p.drift == found
	p.drift = found
	p.mu.Unlock()
	switch {
	case !again:
		return false
	case len(excess) > 0:
		p.log.Error("bgp router holds withdrawn routes, session reset", "prefixes", excess)
		s.last(cease(ceaseReset, ""), "the router held withdrawn routes")
	case len(missing) > 0:
		p.log.Warn("bgp routes were not sent, sending them anew", "prefixes", missing)
		if err := s.link.refresh(); err != nil {
			p.log.Error("bgp routes not sent anew", "error", err)
		}
	}
	return true
}

// compare returns the prefixes that the router lacks and those that it has
// and should not.
func (p *peer) compare(h hops) (missing, excess []netip.Prefix) {
	p.exclusively(func(announced []netip.Prefix) {
		p.mu.Lock()
		defer p.mu.Unlock()
		due := make(tally)
		for _, prefix := range announced {
			if hop, _ := h.family(prefix); hop.IsValid() {
				due[prefix] = struct{}{}
			}
		}
		missing, excess = due.minus(p.given), p.given.minus(due)
	})
	return missing, excess
}

// review tells of a family whose routes are withheld on a live session.
func (p *peer) review() {
	announced := p.announced()
	p.mu.Lock()
	if p.stage != Established {
		p.mu.Unlock()
		return
	}
	why := ""
	if err := p.agreed.hops.withheld(announced); err != nil {
		why = err.Error()
	}
	changed := p.state.LastError != why
	p.state.LastError = why
	p.mu.Unlock()
	if !changed {
		return
	}
	if why != "" {
		p.log.Warn("bgp routes withheld", "reason", why)
	}
	p.notify()
}
