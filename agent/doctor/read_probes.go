package doctor

import (
	"context"
	"slices"
	"strings"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/probe"
)

// times is how often a check is asked that fails at first.
const times = 3

// ask asks every check once and, if any fails, all of them again: a single
// answer that is lost says little.
func ask(ctx context.Context, c *config.Config) ([]Asked, error) {
	var all []Asked
	for range times {
		failed := false
		if err := agent.ProbeAll(ctx, c, 1, func(s agent.Sample) {
			all = count(all, s)
			failed = failed || s.Result.Cause != probe.Passed
		}); err != nil {
			return nil, err
		}
		if !failed {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b Asked) int {
		return strings.Compare(a.Service+" "+a.Check, b.Service+" "+b.Check)
	})
	return all, ctx.Err()
}

// count takes a sample into the sum of its check.
func count(all []Asked, s agent.Sample) []Asked {
	i := slices.IndexFunc(all, func(a Asked) bool { return a.Service == s.Service && a.Check == s.Check })
	if i < 0 {
		i, all = len(all), append(all, Asked{Sample: s})
	}
	all[i].All++
	if s.Result.Cause != probe.Passed {
		all[i].Sample = s
		all[i].Failed++
	}
	return all
}

// askZones asks the checks of fresh local names that demand no SOA again, and
// demands the SOA of the name's parent.
func askZones(ctx context.Context, c *config.Config) ([]agent.Sample, error) {
	var all []agent.Sample
	demanding := *c
	demanding.Services = nil
	for _, s := range c.Services {
		s.ServicePath.Off = true
		checks := s.Checks
		s.Checks = nil
		for _, check := range checks {
			if check.DNS == nil || check.DNS.SOA != "" {
				continue
			}
			if zone, ok := strings.CutPrefix(check.DNS.Name, "{random}."); ok {
				dns := *check.DNS
				dns.SOA, check.DNS = zone, &dns
				s.Checks = append(s.Checks, check)
			}
		}
		demanding.Services = append(demanding.Services, s)
	}
	err := agent.ProbeAll(ctx, &demanding, 1, func(s agent.Sample) { all = append(all, s) })
	return all, err
}
