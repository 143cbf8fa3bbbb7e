package agent

import (
	"context"
	"fmt"
	"net/netip"

	"recuse/agent/config"
	"recuse/probe"
)

// servicePath is the name of the check that is made without being configured.
const servicePath = config.ServicePathName

// check is one configured check in the loop.
type check struct {
	name   string
	prime  bool // see Evidence.Prime
	info   bool
	runner *probe.Runner
	last   probe.Report // the zero Report before the first result
}

// oneAddr is the service path on one address, while its link is up.
type oneAddr struct {
	check
	end      context.CancelFunc
	answered bool // at least once since the address is there
}

// pathName names the service path on one address.
func pathName(a netip.Addr) string { return fmt.Sprintf("%s %s", servicePath, a) }

// pathMaker makes the runner that asks on one service address.
type pathMaker func(a netip.Addr, report func(probe.Report)) *probe.Runner

// evidence is what all checks of the service say. The service path counts only
// while there is a route: before, it is asked for one answer on each address,
// and failing that keeps the service out without another verdict.
func (s *service) evidence() []Evidence {
	var list []Evidence
	for _, c := range s.checks {
		list = append(list, c.evidence())
	}
	if s.state.Phase != Serving && s.state.Phase != Draining {
		return list
	}
	for _, p := range s.conf.Addresses {
		one := s.paths[p.Addr()]
		if one != nil && one.last.Verdict.Level != probe.Unknown {
			list = append(list, one.evidence())
		}
	}
	return list
}

// evidence is what the check says now.
func (c *check) evidence() Evidence {
	v := c.last.Verdict
	return Evidence{Name: c.name, Level: v.Level, Prime: c.prime, Info: c.info,
		Reason: v.Reason}
}

// reportEvent is one result of a configured check.
type reportEvent struct {
	service *service
	check   *check
	report  probe.Report
}

// apply keeps the result and logs a change of the level.
func (e reportEvent) apply(l *loop) {
	e.check.take(l, e.service, e.report)
}

// take keeps a result.
func (c *check) take(l *loop, s *service, r probe.Report) {
	if was := c.last.Verdict.Level; was != r.Verdict.Level {
		l.log.Info("check changed", "service", s.conf.Name, "check", c.name,
			"from", was, "to", r.Verdict.Level, "reason", r.Verdict.Reason,
			"outcome", r.Result.Outcome)
	}
	c.last = r
}

// followPaths asks on every address that the link holds while it is up, and
// stops asking, and forgets, when it does not.
func (s *service) followPaths(ctx context.Context, l *loop) {
	if s.path == nil {
		return
	}
	for _, p := range s.conf.Addresses {
		a := p.Addr()
		one, wanted := s.paths[a], s.asks() && s.present(p)
		switch {
		case wanted && one == nil:
			s.startPath(ctx, l, a)
		case !wanted && one != nil:
			one.end()
			delete(s.paths, a)
		}
	}
}

// asks tells whether the service path is worth asking.
func (s *service) asks() bool {
	return s.seen.Up && s.state.Phase != Down && s.state.Phase != Held
}

// startPath begins to ask on one address.
func (s *service) startPath(ctx context.Context, l *loop, a netip.Addr) {
	ctx, end := context.WithCancel(ctx)
	one := &oneAddr{end: end, check: check{prime: true,
		name: pathName(a)}}
	one.runner = s.path(a, func(r probe.Report) {
		l.send(pathEvent{s, a, one, r})
	})
	s.paths[a] = one
	go func() { _ = one.runner.Run(ctx) }()
}

// pathEvent is one result of the service path.
type pathEvent struct {
	service *service
	addr    netip.Addr
	one     *oneAddr
	report  probe.Report
}

// apply keeps the result, unless it comes from a runner that was ended.
func (e pathEvent) apply(l *loop) {
	if e.service.paths[e.addr] != e.one {
		return
	}
	e.one.take(l, e.service, e.report)
	if e.report.Result.Cause == probe.Passed {
		e.one.answered = true
	}
}
