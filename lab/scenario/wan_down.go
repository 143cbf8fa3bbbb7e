package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/authority"
	"recuse/lab/result"
)

// keptFor is how long the resolvers keep a name where its expiry is the point:
// in a run's seconds, what a day's outage is to a name kept for an hour.
const keptFor = 2 * time.Second

// wanDown is the provider's outage: the home's own names work, and those of the
// internet only as far as the resolvers serve what has expired.
func wanDown(stale bool) Scenario {
	s := Scenario{
		Name: "wan-down", Title: "the internet is gone, and the resolvers' cache expires",
		Needs: Needs{MaxTTL: keptFor},
		Act: func(ctx context.Context, r *Run) error {
			r.Say("the router loses the internet")
			return r.Bench.Router().Wide(ctx, true)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("the internet is back")
			return r.Bench.Router().Wide(ctx, false)
		},
		Tell: (*Run).noteNames,
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.cutOff()}
		},
	}
	if stale {
		s.Name, s.Needs.ServeStale = "wan-down-stale", true
		s.Title = "the internet is gone, and the resolvers serve what has expired"
	}
	return s
}

// cutOff is the proof that no resolver reached the internet's authority during
// the fault.
func (r *Run) cutOff() result.Proof {
	calm, fault := r.zone(authority.Internet, Calm), r.zone(authority.Internet, Fault)
	return result.Proof{Claim: "nobody reached the internet during the fault", Holds: calm.Queries > 0 && fault.Queries == 0,
		Evidence: fmt.Sprintf("the authority of %s was asked %d times in the calm and %d times during the fault",
			authority.Internet, calm.Queries, fault.Queries)}
}

// noteNames tells what the clients could still look up during the fault.
func (r *Run) noteNames() {
	kinds := []struct {
		name string
		is   func(string) bool
	}{
		{"popular names of the internet", func(n string) bool { return slices.Contains(authority.Popular(), n) }},
		{"new names of the internet", func(n string) bool { return strings.HasSuffix(n, "."+authority.Fresh) }},
		{"names of the home", func(n string) bool { return strings.HasSuffix(n, "."+authority.LAN) }},
	}
	for _, k := range kinds {
		asked, good := 0, 0
		for _, rec := range r.within(Fault, Fault) {
			if k.is(rec.Name) {
				asked++
				good += count(!rec.Failed())
			}
		}
		r.Note("%d of %d questions for %s were answered well during the fault", good, asked, k.name)
	}
}

// count is 1 for what is so.
func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
