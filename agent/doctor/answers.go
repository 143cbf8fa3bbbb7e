package doctor

import (
	"fmt"
	"strings"

	"recuse/probe"
)

// answers looks at what the checks saw.
func answers(b *Box) []Finding {
	if b.Asked.Err != nil {
		return unread(b.Asked.Err, "the checks decide on the announcement")
	}
	var found []Finding
	for _, a := range b.Asked.Value {
		if a.Failed == 0 {
			continue
		}
		f := Finding{Severity: Error,
			Seen: fmt.Sprintf("service %s, check %s: %s: %s (%d of %d probes)", a.Service, a.Check,
				a.Result.Cause, or(a.Result.Outcome, "no outcome"), a.Failed, a.All),
			Why: "a node whose checks do not pass does not come up, or leaves", WayOut: remedy(a)}
		if a.Life != "" {
			f.Seen += ", and the server " + a.Life
		}
		switch {
		case a.Info:
			f.Severity, f.Why = Note, "the check is for information (failure: info)"
		case a.Failed < a.All:
			f.Severity, f.Why = Warning, "a probe that fails now and then makes the node look closer, and slow or sick if it goes on"
		}
		found = append(found, f)
	}
	return found
}

// remedy is the way out by the cause.
func remedy(a Asked) string {
	switch a.Result.Cause {
	case probe.Refused:
		return "start the server, or correct the check's address"
	case probe.Silent:
		if a.Life != "" {
			return "look at what is behind the server: its upstream or the local zone's authority hangs"
		}
		return "look at the server, its access rules and rate limit, and the firewall"
	case probe.Wrong:
		return "ask the same with dig; correct the server's zone, or the check's name, rcode, soa or answer"
	}
	return "the probe could not be made, or its name proves nothing: the outcome says why"
}

// localNames looks at whose word the NXDOMAIN of a local name is: without a soa
// in the check, that of the internet's root passes too.
func localNames(b *Box) []Finding {
	if b.Zones.Err != nil {
		return unread(b.Zones.Err, "the root's NXDOMAIN for a local name says nothing of the local zone")
	}
	var found []Finding
	for _, s := range b.Zones.Value {
		if s.Result.Cause != probe.Wrong || !strings.Contains(s.Result.Outcome, " from zone . ") {
			continue
		}
		found = append(found, Finding{Severity: Warning,
			Seen:   fmt.Sprintf("service %s, check %s: %s", s.Service, s.Check, s.Result.Outcome),
			Why:    "the answer is the internet's, so the check passes while the local zone is gone, and fails with the uplink on all nodes at once",
			WayOut: "forward the zone to its authority in the resolver, and set the check's soa to the zone"})
	}
	return found
}
