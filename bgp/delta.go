package bgp

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
)

// ErrRestart is wrapped by the errors of Speaker.Update for what cannot change
// while the process lives.
var ErrRestart = errors.New("needs a restart of the agent")

// needsRestart tells what of a new configuration cannot be taken over, or
// returns nil. id is the identifier in use, zero as long as there is none.
func (c Config) needsRestart(o Config, id netip.Addr) error {
	var errs []error
	add := func(key string, was, is any) {
		errs = append(errs, fmt.Errorf("bgp.%s: changed from %v to %v: %w", key, was, is, ErrRestart))
	}
	if c.ASN != o.ASN {
		add("asn", c.ASN, o.ASN)
	}
	if o.RouterID.IsValid() && id.IsValid() && o.RouterID != id {
		add("router_id", id, o.RouterID)
	}
	if c.Listen != o.Listen {
		add("listen", c.Listen, o.Listen)
	}
	return errors.Join(errs...)
}

// session returns what of p a session is built on. What is left out may change
// while it lives.
func (p Peer) session() Peer {
	p.Communities = nil
	p.NextHopV4, p.NextHopV6 = netip.Addr{}, netip.Addr{}
	p.BFD = nil
	return p
}

// sameSession reports whether a session with p can go on as one with o.
func (p Peer) sameSession(o Peer) bool { return reflect.DeepEqual(p.session(), o.session()) }

// soft is what of the configuration may change while a session lives.
type soft struct {
	deprefer     Deprefer
	extra        communities
	hopV4, hopV6 netip.Addr // overrides
}

// newSoft takes it out of a validated configuration.
func newSoft(c Config, p Peer) (soft, error) {
	extra, err := parseCommunities(p.Communities)
	if err != nil {
		return soft{}, err
	}
	return soft{deprefer: c.Deprefer, extra: extra, hopV4: p.NextHopV4, hopV6: p.NextHopV6}, nil
}

// affects reports whether the change from t to o changes any of the routes.
func (t terms) affects(o terms, announced routeSet) bool {
	if !t.hops.same(o.hops) || !reflect.DeepEqual(t.extra, o.extra) {
		return true
	}
	if t.deprefer == o.deprefer || !t.external {
		return false
	}
	for _, depreferred := range announced {
		if depreferred {
			return true
		}
	}
	return false
}
