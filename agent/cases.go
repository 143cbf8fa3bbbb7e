package agent

import (
	"fmt"
	"time"

	"recuse/agent/config"
	"recuse/bgp"
	"recuse/probe"
)

// Case is one kind of failure and the longest time from it to the message that
// moves the traffic: our UPDATE, or the end of the session at the router.
type Case struct {
	Failure string
	Bound   probe.Bound
	// Note says what the time does not, such as that nothing is done about it.
	Note string
}

// CasesOf are those of the check of that index of a service. Only the first can
// make the service dead.
func CasesOf(s config.Service, i int) []Case {
	c, gone := s.Checks[i], s.On.Sick
	if i == 0 {
		gone = s.On.Dead
	}
	_, wired := Watched(c)
	list := []Case{
		{"server gone", c.BoundGone(wired), answerNote(gone) + wireNote(c, wired)},
		{"server hangs", c.BoundHang(), answerNote(s.On.Sick)},
		{"wrong answers, given at once", c.BoundWrong(), answerNote(s.On.Sick)},
	}
	if b := c.BoundSlow(); b != nil {
		note := answerNote(s.On.Slow)
		if c.Over == 0 {
			note += fmt.Sprintf(" (over: auto at its least, %s at most)",
				c.Timeout/2)
		}
		list = append(list, Case{"every answer late", b, note})
	}
	if c.Failure == config.FailureInfo {
		for i := range list {
			list[i].Note = "shown only: failure: info"
		}
	}
	return list
}

// wireNote says what the word of the kernel takes for granted.
func wireNote(c config.Check, wired bool) string {
	switch {
	case !wired:
		return ""
	case c.Tripwire == config.TripwireTCP:
		return " (told by the end of an idle connection)"
	}
	return " (told by the kernel, of this network namespace; else the interval " +
		c.Interval.String() + " comes first)"
}

// answerNote says what a level leads to.
func answerNote(answer string) string {
	switch answer {
	case config.Ignore:
		return "ignored"
	case config.Withdraw:
		return "withdrawn"
	case config.Deprefer:
		return "second choice"
	}
	return "second choice at once, out once others serve"
}

// CasesOfNode are those that no check sees, for one peer.
func CasesOfNode(p bgp.Peer) []Case {
	silence := probe.Bound{{Name: "hold_time", Times: 1, Span: p.HoldTime}}
	note := "no BFD; the router's own hold time, if that is shorter"
	if p.BFD != nil {
		silence = probe.Bound{{Name: "BFD interval", Times: p.BFD.Multiplier,
			Span: p.BFD.Interval}}
		note = "as negotiated: the slower end decides"
	}
	return []Case{
		{"node frozen, unplugged or without power", silence, note},
		{"agent killed", nil, "its kernel closes the session at once"},
		{"agent hangs", probe.Bound{{Name: "watchdog", Times: 1, Span: stuckAfter},
			{Name: "look", Times: 2, Span: pulseEvery}}, "it ends itself"},
	}
}

// Felt is how long a client may go on with what is gone if, at the end of a
// bound, a DNS record had to be changed instead of a route.
func (c Case) Felt(ttl time.Duration) time.Duration { return c.Bound.Sum() + ttl }
