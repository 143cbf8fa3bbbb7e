package agent

import (
	"fmt"
	"net/netip"
	"slices"

	"recuse/agent/config"
	"recuse/probe"
	"recuse/probe/dnsx"
)

// maker builds the services of the loop, with one budget for each server.
type maker struct {
	loop    *loop
	budgets map[netip.AddrPort]*probe.Budget
}

// newMaker makes a maker for a loop.
func newMaker(l *loop) *maker {
	return &maker{loop: l, budgets: map[netip.AddrPort]*probe.Budget{}}
}

// service builds one service. Errors begin with the path inside the service.
func (m *maker) service(c config.Service, h link) (*service, error) {
	s := &service{
		conf:   c,
		rules:  Rules{Settle: c.Settle, Drain: c.Drain},
		policy: policy(c),
		link:   h,
		paths:  map[netip.Addr]*oneAddr{},
		state:  State{Phase: Down, Since: m.loop.about.LoadedAt},
	}
	for i := range c.Checks {
		made, err := m.check(s, c.Checks[i], i == 0)
		if err != nil {
			return nil, fmt.Errorf("checks[%d]: %w", i, err)
		}
		s.checks = append(s.checks, made)
	}
	var err error
	s.path, err = m.path(c)
	return s, err
}

// policy translates the configured policy.
func policy(c config.Service) Policy {
	switch c.Policy {
	case config.PolicyAny:
		return Policy{Need: 1}
	case config.PolicyAtLeast:
		return Policy{Need: c.AtLeast}
	}
	return Policy{}
}

// check builds one configured check.
func (m *maker) check(s *service, c config.Check, first bool) (*check, error) {
	if c.Kind != config.CheckDNS {
		return nil, fmt.Errorf("%s: checks of this kind do not run in this "+
			"version; use dns", c.Kind)
	}
	p, err := dnsx.New(*c.DNS)
	if err != nil {
		return nil, err
	}
	made := &check{name: c.Name, prime: first,
		info: c.Failure == config.FailureInfo}
	made.runner = probe.NewRunner(c.Check, p, m.budget(c.DNS.Server),
		func(r probe.Report) {
			m.loop.send(reportEvent{s, made, r})
		})
	return made, nil
}

// path prepares the service path: the first DNS check, asked on the service
// addresses. It is nil where there is nothing to ask.
func (m *maker) path(c config.Service) (pathMaker, error) {
	i := slices.IndexFunc(c.Checks, func(c config.Check) bool {
		return c.Kind == config.CheckDNS
	})
	if c.ServicePath.Off || i < 0 {
		return nil, nil
	}
	first := c.Checks[i]
	probers := map[netip.Addr]probe.Prober{}
	for _, p := range c.Addresses {
		prober, err := dnsx.NewPath(dnsx.PathConfig{
			Addresses: []netip.Addr{p.Addr()},
			Port:      first.DNS.Server.Addr.Port(),
			Source:    sourceFor(c.ServicePath.Source, p.Addr()),
			Question:  *first.DNS,
		})
		if err != nil {
			return nil, fmt.Errorf("service_path: %w", err)
		}
		probers[p.Addr()] = prober
	}
	return m.runners(first, probers), nil
}

// sourceFor is the configured source where it has the address's family.
func sourceFor(source, to netip.Addr) netip.Addr {
	if source.Is4() != to.Is4() {
		return netip.Addr{}
	}
	return source
}

// runners makes runners that keep the check's schedule on a service address.
func (m *maker) runners(c config.Check, p map[netip.Addr]probe.Prober) pathMaker {
	return func(a netip.Addr, report func(probe.Report)) *probe.Runner {
		server := c.DNS.Server
		server.Addr = netip.AddrPortFrom(a, server.Addr.Port())
		rules := c.Check
		rules.Name = pathName(a)
		return probe.NewRunner(rules, p[a], m.budget(server), report)
	}
}

// budget is the one that all checks of a server share; only UDP is limited.
func (m *maker) budget(s dnsx.Server) *probe.Budget {
	if s.Net != "udp" {
		return nil
	}
	b, ok := m.budgets[s.Addr]
	if !ok {
		b = probe.NewBudget()
		m.budgets[s.Addr] = b
	}
	return b
}
