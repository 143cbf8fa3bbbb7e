package agent

import (
	"fmt"

	"recuse/probe"
)

// Policy says how the checks of a service make one level.
type Policy struct {
	// Need is how many checks must be good: 0 stands for all of them.
	Need int
}

// Evidence is what one check says at this moment.
type Evidence struct {
	Name  string
	Level probe.Level
	// Prime marks the first check and the service path: only these can make a
	// service dead.
	Prime bool
	// Path marks the service path. It has no vote under a policy: whatever the
	// other checks say, clients reach nothing else than this.
	Path bool
	// Info marks a check that is shown and never counted.
	Info   bool
	Reason string
}

// Opinion is what the checks say together.
type Opinion struct {
	Level probe.Level
	// Ready tells that as many checks as the policy asks for have passed
	// `rise` times in a row, which is what coming up takes. An unknown check
	// counts against it, though it never counts against staying.
	Ready bool
	// Why names the check that decided, and its reason.
	Why string
}

// Combine makes the level of a service from its checks (design section 4).
//
// A check that is unknown or for information is left out of the level; with
// nothing left the level is unknown. A secondary check that is dead counts as
// sick, so that a lost DoT listener does not take plain DNS with it. The service
// path makes the level worse under every policy, and never better.
func Combine(p Policy, checks []Evidence) Opinion {
	var counted, paths []Evidence
	healthy, all, pathOK := 0, 0, true
	for _, c := range checks {
		switch {
		case c.Info:
			continue
		case c.Path:
			pathOK = pathOK && c.Level == probe.OK
			paths = insert(paths, c)
			continue
		}
		all++
		if c.Level == probe.OK {
			healthy++
		}
		if c.Level != probe.Unknown {
			counted = insert(counted, capped(c))
		}
	}
	o := Opinion{Level: probe.Unknown,
		Ready: all > 0 && healthy >= need(p, all) && pathOK}
	decider, ok := decide(p, counted, paths)
	if !ok {
		o.Why = firstUnknown(checks)
		return o
	}
	o.Level = decider.Level
	o.Why = why(decider)
	if decider.Level == probe.OK && !o.Ready {
		o.Why = firstUnknown(checks)
	}
	return o
}

// decide finds the check that makes the level: that of the policy, or a service
// path that is worse. Both lists begin with the best.
func decide(p Policy, counted, paths []Evidence) (e Evidence, ok bool) {
	if n := len(counted); n > 0 {
		e, ok = counted[need(p, n)-1], true
	}
	if n := len(paths); n > 0 && paths[n-1].Level > e.Level {
		e, ok = paths[n-1], true
	}
	return e, ok
}

// need is how many of n checks the policy wants good.
func need(p Policy, n int) int {
	if p.Need == 0 {
		return n
	}
	return min(p.Need, n)
}

// capped limits a secondary check to sick.
func capped(c Evidence) Evidence {
	if c.Level == probe.Dead && !c.Prime {
		c.Level = probe.Sick
	}
	return c
}

// insert keeps the list ordered from the best level to the worst.
func insert(list []Evidence, c Evidence) []Evidence {
	i := len(list)
	for i > 0 && list[i-1].Level > c.Level {
		i--
	}
	list = append(list, Evidence{})
	copy(list[i+1:], list[i:])
	list[i] = c
	return list
}

// firstUnknown explains why nothing is known yet.
func firstUnknown(checks []Evidence) string {
	for _, c := range checks {
		if !c.Info && c.Level == probe.Unknown {
			return why(c)
		}
	}
	return "no check has counted yet"
}

// why joins the check's name and its reason.
func why(c Evidence) string {
	if c.Reason == "" {
		return fmt.Sprintf("%s is %s", c.Name, c.Level)
	}
	return fmt.Sprintf("%s: %s", c.Name, c.Reason)
}
