package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"time"

	"recuse/agent/config"
	"recuse/bgp"
	"recuse/netlinkx"
	"recuse/probe"
)

// link is what a service needs of package netlinkx to carry its addresses.
// All methods are idempotent.
type link interface {
	Observe() (netlinkx.State, error)
	Ensure() error
	Raise() error
	Lower() error
	SetAddresses(addresses []netip.Prefix) error
	Remove() error
	Release() error
}

// ensureEvery is how often what must stand all the time is looked after: the
// link of a service that is out, and the routes that end a loop. No netlink
// message wakes us for the routes.
const ensureEvery = 5 * time.Second

// raiseEvery limits how often a link is put right: at once when something
// changed, but not in a race with another program that undoes it.
const raiseEvery = 250 * time.Millisecond

// service is one service in the loop.
type service struct {
	conf   config.Service
	rules  Rules
	policy Policy
	link   link

	checks []*check                // as configured
	path   pathMaker               // nil: no service path
	paths  map[netip.Addr]*oneAddr // the service path, address by address

	state     State
	orders    Orders
	othersNow Others // as of the last decision
	wishes    wishes
	unwatch   context.CancelFunc // ends the look for the drain_file
	decisions map[decision]uint64

	dirty bool // the kernel is to be asked before the next decision
	seen  netlinkx.State
	// lookAfter and moveAfter are the earliest moments at which the kernel is
	// asked, and the link is written, again.
	lookAfter, moveAfter time.Time
	ensureAfter          time.Time
	linkErr              error // the last failure to write it
	lookErr              error // the failure of the last look
	conflict             error // another link that has an address, or its subnet
	stalled              bool  // the next decision is the first after a stall
}

// decision is a kind of change.
type decision struct {
	to     Phase
	reason Reason
}

// observe asks the kernel about the link if something may have changed. It
// returns when it wants to ask again after a failure.
func (s *service) observe(l *loop, now time.Time) time.Time {
	if !s.dirty {
		return time.Time{}
	}
	if now.Before(s.lookAfter) {
		return s.lookAfter
	}
	seen, err := s.link.Observe()
	s.noted(l, &s.lookErr, err)
	// A foreign link is followed as well: it may be down, or bear no address of
	// ours.
	if err != nil && !errors.Is(err, netlinkx.ErrForeign) {
		s.lookAfter = now.Add(retry)
		return s.lookAfter
	}
	s.seen, s.dirty = seen, false
	return time.Time{}
}

// decide makes one step and tells whether the phase or the stance changed.
func (s *service) decide(l *loop, now time.Time) bool {
	before := s.state
	drainEnds := s.wishes.expire(now)
	in := s.inputs(l, now)
	s.othersNow = in.Others
	s.state, s.orders = Decide(s.rules, before, in)
	s.stalled = false
	s.orders.Wake = earliest(s.orders.Wake, drainEnds)
	if s.state.Phase == before.Phase && s.state.Stance == before.Stance {
		return false
	}
	if before.Phase == Raising {
		for _, one := range s.paths {
			one.stale = true
		}
	}
	s.decided(l, now, before)
	return true
}

// inputs collects what the decision is made from.
func (s *service) inputs(l *loop, now time.Time) Inputs {
	in := Inputs{
		Now:        now,
		Opinion:    Combine(s.policy, s.evidence()),
		Others:     Look(now, l.heard(), s.conf.Routes()),
		Admin:      s.wishes.admin(),
		Jitter:     rand.Float64(),
		LinkExists: s.seen.Exists,
		LinkUp:     s.seen.Up,
		Addresses:  len(s.conf.Addresses),
		Present:    len(s.seen.Present),
		Stalled:    s.stalled,
		Stop:       l.stop,
		Hurry:      l.hurry,
	}
	lives := s.path != nil || s.lives()
	for _, p := range s.conf.Addresses {
		if lives && s.alive(p) {
			in.Alive++
		}
		if s.answers(p) {
			in.Answered++
		}
	}
	return in
}

// present tells whether the link holds the address.
func (s *service) present(p netip.Prefix) bool {
	for _, have := range s.seen.Present {
		if have == p {
			return true
		}
	}
	return false
}

// alive tells whether the address is there and something answered on it since
// it was.
func (s *service) alive(p netip.Prefix) bool {
	return s.asked(p, func(one *oneAddr) bool { return one.alive })
}

// answers tells whether it answered rightly.
func (s *service) answers(p netip.Prefix) bool {
	return s.asked(p, func(one *oneAddr) bool { return one.answered })
}

// lives tells whether a check has just seen a sign of life: what a service
// without a service path comes up on when nobody serves.
func (s *service) lives() bool {
	for _, c := range s.checks {
		if r := c.last.Result; r.Alive || r.Cause == probe.Passed {
			return true
		}
	}
	return false
}

// asked puts a question to the service path on an address. Where there is no
// service path, being there is enough.
func (s *service) asked(p netip.Prefix, f func(*oneAddr) bool) bool {
	if !s.seen.Up || !s.present(p) {
		return false
	}
	one := s.paths[p.Addr()]
	return s.path == nil || one != nil && f(one)
}

// routes is what this service announces now. The announcement follows the
// link: an address that is not there, or has been silent since it is, is not
// announced, whatever the stance.
func (s *service) routes() []bgp.Route {
	if s.orders.Stance == Withdrawn {
		return nil
	}
	var list []bgp.Route
	complete := true
	for _, p := range s.conf.Addresses {
		if !s.alive(p) {
			complete = false
			continue
		}
		if len(s.conf.Announce) == 0 {
			list = append(list, s.route(p))
		}
	}
	if complete {
		for _, p := range s.conf.Announce {
			list = append(list, s.route(p))
		}
	}
	return list
}

// route is one prefix in the present stance.
func (s *service) route(p netip.Prefix) bgp.Route {
	return bgp.Route{Prefix: p, Depreferred: s.orders.Stance == Depreferred}
}

// moveLink carries out the order for the link. It tells whether it wrote, and
// when it wants to try again.
func (s *service) moveLink(l *loop, now time.Time) (bool, time.Time) {
	act := s.linkAction(l.stop)
	if act == nil {
		return false, time.Time{}
	}
	if now.Before(s.moveAfter) {
		return false, s.moveAfter
	}
	s.moveAfter = now.Add(raiseEvery)
	s.dirty = true
	if err := act(); err != nil {
		s.moveAfter = now.Add(retry)
		s.linkFailed(l, err)
		return false, s.moveAfter
	}
	s.linkErr = nil
	return true, time.Time{}
}

// ensure looks after what must stand all the time, and returns when it wants
// to again.
func (s *service) ensure(l *loop, now time.Time) time.Time {
	if l.stop {
		return time.Time{}
	}
	if !now.Before(s.ensureAfter) {
		s.ensureAfter = now.Add(ensureEvery)
		if err := s.link.Ensure(); err != nil {
			s.linkFailed(l, err)
		} else if s.linkAction(false) == nil {
			s.linkErr = nil // somebody else put it right
		}
	}
	return s.ensureAfter
}

// linkFailed keeps the error of a write for status and logs it once.
func (s *service) linkFailed(l *loop, err error) { s.noted(l, &s.linkErr, err) }

// noted keeps an error in the place of an earlier one, and logs it if it is
// another; nil forgets.
func (s *service) noted(l *loop, was *error, err error) {
	if err != nil && (*was == nil || (*was).Error() != err.Error()) {
		l.log.Error("link trouble", "service", s.conf.Name,
			"link", s.conf.Link.Name, "error", err)
	}
	*was = err
}

// linkTrouble is what is wrong with the link now, if anything.
func (s *service) linkTrouble() error {
	if s.linkErr != nil {
		return s.linkErr
	}
	return s.lookErr
}

// linkAction is the write that brings the link where it is wanted; nil if it
// is there. While the agent stops, links wait until BGP has closed.
func (s *service) linkAction(stopping bool) func() error {
	right := s.seen.Exists && s.seen.Up &&
		len(s.seen.Present) == len(s.conf.Addresses)
	switch order := s.linkOrder(); {
	case stopping:
	case order == LinkUp && !right:
		return s.link.Raise
	case order == LinkDown && s.carries():
		return s.link.Lower
	}
	return nil
}

// linkOrder is the decision's order, or up all the time for a link that is
// kept when the service is out.
func (s *service) linkOrder() LinkOrder {
	if s.orders.Link == LinkDown && s.conf.Link.WhenOut == config.WhenOutKeep {
		return LinkUp
	}
	return s.orders.Link
}

// carries tells whether the link still serves: up, or for a link that is not
// ours to set down, holding an address.
func (s *service) carries() bool {
	if s.conf.Link.Kind == config.KindExisting {
		return len(s.seen.Present) > 0
	}
	return s.seen.Up
}
