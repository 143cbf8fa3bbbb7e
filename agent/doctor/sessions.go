package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/agent/control"
	"recuse/bgp"
)

// established is a session's state that counts.
const established = "ESTABLISHED"

// usualHold is the longest hold time that is fair without BFD: the default.
const usualHold = 9 * time.Second

// routerSide is the way out of what hangs on the router's settings.
func (b *Box) routerSide() string {
	return "compare the router with recuse peering -c " + b.Config.Path + " --router NAME"
}

// peers looks at the BGP sessions.
func peers(b *Box) []Finding {
	var found []Finding
	for _, p := range b.Agent.Status.Peers {
		switch {
		case p.State != established:
			found = append(found, Finding{Severity: Error,
				Seen:   fmt.Sprintf("peer %s is %s: %s", p.Address, p.State, or(p.Error, "not established yet")),
				Why:    "without a session the router has no route to this node",
				WayOut: b.routerSide()})
		case p.Error != "":
			found = append(found, Finding{Severity: Warning,
				Seen:   fmt.Sprintf("peer %s: %s", p.Address, p.Error),
				Why:    "the router lacks routes in spite of the session",
				WayOut: b.routerSide()})
		}
	}
	return found
}

// bfdSessions looks at BFD beside BGP.
func bfdSessions(b *Box) []Finding {
	var found []Finding
	for _, p := range b.Agent.Status.Peers {
		i, known := b.configured(p.Address)
		switch {
		case p.BFD == nil:
		case p.BFD.State != "UP":
			found = append(found, Finding{Severity: Error,
				Seen:   fmt.Sprintf("BFD with %s is %s: %s", p.Address, p.BFD.State, or(p.BFD.Error, "not up yet")),
				Why:    "a frozen node stays in the routing for the BGP hold time",
				WayOut: b.routerSide() + "; UDP port 3784 must pass both ways"})
		case known && b.Config.BGP.Peers[i].BFD != nil:
			found = append(found, pace(p, *b.Config.BGP.Peers[i].BFD)...)
		}
	}
	return found
}

// pace compares what BFD has come to with what is configured.
func pace(p control.Peer, want bgp.BFD) []Finding {
	interval := float64(want.Interval) / float64(time.Millisecond)
	detect := interval * float64(want.Multiplier)
	late := p.BFD.IntervalMS * float64(want.Multiplier-1)
	var found []Finding
	if p.BFD.IntervalMS > interval || p.BFD.RemoteIntervalMS > interval {
		found = append(found, Finding{Severity: Warning,
			Seen: fmt.Sprintf("BFD with %s: packets every %g ms out and %g ms in, %g ms are configured",
				p.Address, p.BFD.IntervalMS, p.BFD.RemoteIntervalMS, interval),
			Why:    fmt.Sprintf("a frozen node is found later than after %g ms", detect),
			WayOut: fmt.Sprintf("on the router, set its BFD intervals for this neighbour to %g ms", interval)})
	}
	if want.Multiplier > 1 && p.BFD.WorstLateMS >= late {
		found = append(found, Finding{Severity: Warning,
			Seen:   fmt.Sprintf("BFD with %s: a packet left %g ms late, the router waits %g ms", p.Address, p.BFD.WorstLateMS, detect),
			Why:    "a little later, and the router takes a busy node for a dead one",
			WayOut: "CPUSchedulingPolicy=rr in the unit (deploy/systemd), or a longer bfd.interval"})
	}
	return found
}

// others looks at whether the routers show other nodes.
func others(b *Box) []Finding {
	var found []Finding
	unknown := slices.ContainsFunc(b.Agent.Status.Services, func(s control.Service) bool {
		return s.OthersKnown == "unknown" && s.Stance != "withdrawn"
	})
	for _, p := range b.Agent.Status.Peers {
		switch {
		case p.State != established:
		case p.Unmarked:
			found = append(found, Finding{Severity: Warning,
				Seen: fmt.Sprintf("peer %s sends a route to a service prefix without a node's mark", p.Address),
				Why: "it strips large communities, or something else announces the prefix: other nodes " +
					"stay unknown, and a sick node never leaves, it only becomes second choice",
				WayOut: "let large communities ASN:*:1937001 and 1937002 pass in both directions " +
					"(FRR: send-community large, no set large-community none); " + b.routerSide()})
		case unknown && !p.Marked && p.EndOfRIB != nil:
			found = append(found, Finding{Severity: Note,
				Seen: fmt.Sprintf("peer %s has sent no route of the service so far", p.Address),
				Why: "whether others serve is unknown. That is usual where a router keeps a node's own " +
					"route from it (BIRD) and this node's is the best, or no other node runs; else a " +
					"sick node never leaves, it only becomes second choice",
				WayOut: "the router must send the service's routes back: " + b.routerSide()})
		}
	}
	return found
}

// holdTimes looks for sessions that keep a dead node for long.
func holdTimes(b *Box) []Finding {
	var found []Finding
	for i, p := range b.Config.BGP.Peers {
		if p.BFD == nil && p.HoldTime > usualHold {
			found = append(found, Finding{Severity: Warning,
				Seen:   fmt.Sprintf("bgp.peers[%d]: hold_time: %s, and no bfd", i, p.HoldTime),
				Why:    fmt.Sprintf("a frozen node loses its clients' queries for up to %s", p.HoldTime),
				WayOut: "bfd: {} on both sides, or a hold_time of 9s or less"})
		}
	}
	return found
}

// or gives a word for an empty string.
func or(s, instead string) string {
	if strings.TrimSpace(s) == "" {
		return instead
	}
	return s
}
