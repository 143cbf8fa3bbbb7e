package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"recuse/agent/config"
	"recuse/netlinkx"
	"recuse/probe"
	"recuse/probe/conn"
	"recuse/probe/dnsx"
	"recuse/probe/script"
	"recuse/probe/web"
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

// take builds one service and takes hold of its link: claims it, makes it or
// adopts what an earlier run left.
func (m *maker) take(c config.Service, back *undo) (*service, error) {
	s, h, err := m.hold(c)
	if err != nil {
		return nil, err
	}
	if err := h.Lock(); err != nil {
		return nil, err
	}
	back.add("release "+c.Link.Name, h.Release)
	if err := m.adopt(c, h, back); err != nil {
		return nil, errors.Join(err, h.Release())
	}
	return s, nil
}

// holding is what a service holds, and where.
func holding(c config.Service) netlinkx.Config {
	return netlinkx.Config{Service: c.Name, Link: c.Link.Name,
		Kind: c.Link.Kind, Addresses: c.Addresses}
}

// hold builds one service on a holder, and touches nothing.
func (m *maker) hold(c config.Service) (*service, *netlinkx.Holder, error) {
	h, err := netlinkx.NewHolder(holding(c))
	if err != nil {
		return nil, nil, fmt.Errorf("link: %w", err)
	}
	s, err := m.service(c, h)
	return s, h, err
}

// adopt makes the link or takes over what an earlier run left, which the loop
// then sets down. Nothing of the service stays that is not configured.
func (m *maker) adopt(c config.Service, h *netlinkx.Holder, back *undo) error {
	before, err := h.Observe()
	if err != nil {
		return err
	}
	if !before.Exists {
		back.add("remove "+c.Link.Name, h.Remove)
	}
	if err := h.Adopt(); err != nil {
		return err
	}
	if before.Exists {
		m.loop.log.Info("link adopted", "service", c.Name, "link", c.Link.Name,
			"up", before.Up)
	}
	return nil
}

// service builds one service. Errors begin with the path inside the service.
func (m *maker) service(c config.Service, h link) (*service, error) {
	s := &service{
		conf:   c,
		rules:  rulesOf(c),
		policy: policyOf(c),
		link:   h,
		paths:  map[netip.Addr]*oneAddr{},
		state:  State{Phase: Down, Since: time.Now()},
		dirty:  true,
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

// check builds one configured check.
func (m *maker) check(s *service, c config.Check, first bool) (*check, error) {
	p, err := proberOf(s.conf.Name, c)
	if err != nil {
		return nil, err
	}
	made := &check{name: c.Name, conf: c, prime: first,
		info: c.Failure == config.FailureInfo}
	made.runner = probe.NewRunner(c.Check, p, m.budgetOf(c),
		func(r probe.Report) {
			m.loop.send(reportEvent{s, made, r})
		})
	return made, nil
}

// proberOf builds what asks.
func proberOf(service string, c config.Check) (probe.Prober, error) {
	switch c.Kind {
	case config.CheckHTTP:
		return web.New(web.Config{URL: c.HTTP.URL, Status: c.HTTP.Status,
			Body: c.HTTP.Body, Follow: c.HTTP.Follow, Trust: c.HTTP.Trust})
	case config.CheckTCP:
		return conn.New(conn.Config{Address: c.TCP.Address})
	case config.CheckExec:
		return script.New(script.Config{Command: c.Exec.Command,
			Check: c.Name, Service: service})
	}
	return dnsx.New(*c.DNS)
}

// PathCheck is the check that is also asked on the service addresses: the first
// of plain DNS.
func PathCheck(c config.Service) (config.Check, bool) {
	i := slices.IndexFunc(c.Checks, func(c config.Check) bool {
		return c.Kind == config.CheckDNS && !c.DNS.Server.Secure()
	})
	if c.ServicePath.Off || i < 0 {
		return config.Check{}, false
	}
	return c.Checks[i], true
}

// path prepares the service path. It is nil where there is nothing to ask.
func (m *maker) path(c config.Service) (pathMaker, error) {
	first, ok := PathCheck(c)
	if !ok {
		return nil, nil
	}
	probers, err := pathProbers(c, first)
	if err != nil {
		return nil, err
	}
	return m.runners(first, probers), nil
}

// pathProbers are what ask a check's question on the service addresses.
func pathProbers(c config.Service, first config.Check) (
	map[netip.Addr]probe.Prober, error) {
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
	return probers, nil
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

// budgetOf is the budget of a configured check.
func (m *maker) budgetOf(c config.Check) *probe.Budget {
	if c.Kind != config.CheckDNS {
		return nil
	}
	return m.budget(c.DNS.Server)
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
