package scenario

import (
	"context"
	"time"

	"recuse/lab/authority"
	"recuse/lab/result"
)

// lost is a zone's authority that nobody hears from any more.
var lost = authority.Behaviour{Failure: authority.Drop}

// noLAN is a node that lost its way to the home's own zone. Its fixed names stay
// in the cache for a while, so a check that asks for one of them sees nothing;
// without the cache it would.
func noLAN(cached bool) Scenario {
	s := Scenario{
		Name: "no-lan", Title: "a node cannot resolve the home's own names, and has none of them cached",
		Needs: Needs{MaxTTL: time.Second},
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("%s loses the authority of %s", r.Node.Name(), authority.LAN)
			return r.Bench.Zone(ctx, authority.LAN, lost, r.Node)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("%s has the authority of %s back", r.Node.Name(), authority.LAN)
			return r.Bench.Zone(ctx, authority.LAN, authority.Behaviour{}, r.Node)
		},
		Tell: (*Run).noteNames,
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.failed(authority.LAN)}
		},
	}
	if cached {
		s.Name, s.Needs = "no-lan-cached", Needs{}
		s.Title = "a node cannot resolve the home's own names, but has the usual ones cached"
	}
	return s
}

// allNoLAN is the authority of the home's own zone that died: no node is better
// than another, and leaving would cost the internet's names too.
func allNoLAN() Scenario {
	return Scenario{
		Name: "all-no-lan", Title: "no node can resolve the home's own names",
		Needs: Needs{MaxTTL: time.Second},
		Act: func(ctx context.Context, r *Run) error {
			r.Say("the authority of %s falls silent", authority.LAN)
			return r.Bench.Zone(ctx, authority.LAN, lost)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("the authority of %s answers again", authority.LAN)
			return r.Bench.Zone(ctx, authority.LAN, authority.Behaviour{})
		},
		Tell: (*Run).noteNames,
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.failed(authority.LAN)}
		},
	}
}
