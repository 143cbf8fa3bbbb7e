package agent

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"recuse/agent/config"
	"recuse/probe"
)

// servicePath is the name of the check that is made without being configured.
const servicePath = config.ServicePathName

// check is one configured check in the loop.
type check struct {
	name  string
	conf  config.Check
	prime bool // see Evidence.Prime
	info  bool
	// fresh tells that the check came with a reload and has not passed yet:
	// until then it is shown and not counted.
	fresh  bool
	runner *probe.Runner
	end    context.CancelFunc // nil before it runs
	last   probe.Report       // the zero Report before the first result
}

// oneAddr is the service path on one address, while its link is up.
type oneAddr struct {
	check
	// alive and answered: something answered, and rightly, at least once since
	// the address is there.
	alive, answered bool
	// stale asks for a runner that begins anew: what the address did before
	// the announcement was no reason against it, and must not be one after.
	stale bool
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
		if one != nil && !one.stale &&
			one.last.Verdict.Level != probe.Unknown {
			e := one.evidence()
			e.Path = true
			list = append(list, e)
		}
	}
	return list
}

// evidence is what the check says now.
func (c *check) evidence() Evidence {
	v := c.last.Verdict
	return Evidence{Name: c.name, Level: c.graded(v.Level), Prime: c.prime,
		Info: c.info || c.fresh, Reason: v.Reason}
}

// graded is the level that a failure of this check stands for, where the
// configuration says so: dead or sick in place of what the evidence says.
func (c *check) graded(l probe.Level) probe.Level {
	switch {
	case l < probe.Sick:
	case c.conf.Failure == config.FailureDead:
		return probe.Dead
	case c.conf.Failure == config.FailureSick:
		return probe.Sick
	}
	return l
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
	c.fresh = c.fresh && r.Result.Cause != probe.Passed
}

// suspect makes every check look at once: what one of them sees may be theirs to
// see too.
func (s *service) suspect() {
	for _, c := range s.checks {
		c.runner.Suspect()
	}
	for _, one := range s.paths {
		one.runner.Suspect()
	}
}

// begin runs what the service needs and does not have running: its checks, and
// the look for its drain_file. All of it ends with ctx or with end.
func (s *service) begin(ctx context.Context, l *loop) {
	for _, c := range s.checks {
		if c.end == nil {
			c.begin(ctx)
			watch, end := context.WithCancel(ctx)
			stop := c.end
			c.end = func() { stop(); end() }
			go s.watchServer(watch, l, c.conf)
		}
	}
	if s.unwatch == nil {
		var watch context.Context
		watch, s.unwatch = context.WithCancel(ctx)
		if file := s.conf.DrainFile; file != "" {
			go watchDrainFile(watch, file, func(exists bool) {
				l.send(drainFileEvent{s, file, exists})
			})
		}
	}
}

// begin runs the check.
func (c *check) begin(ctx context.Context) {
	ctx, c.end = context.WithCancel(ctx)
	go func() { _ = c.runner.Run(ctx) }()
}

// end stops everything that the service has running.
func (s *service) end() {
	for _, c := range s.checks {
		c.end()
	}
	for a, one := range s.paths {
		one.end()
		delete(s.paths, a)
	}
	s.unwatch()
}

// followPaths asks on every address that the link holds while it is up, and
// stops asking, and forgets, when it does not.
func (s *service) followPaths(ctx context.Context, l *loop) {
	s.forgetPaths()
	if s.path == nil {
		return
	}
	for _, p := range s.conf.Addresses {
		a := p.Addr()
		one, wanted := s.paths[a], s.asks() && s.present(p)
		switch {
		case wanted && one == nil:
			s.startPath(ctx, l, a, &oneAddr{})
		case wanted && one.stale:
			one.end()
			s.startPath(ctx, l, a, one)
		case !wanted && one != nil:
			one.end()
			delete(s.paths, a)
		}
	}
}

// forgetPaths stops asking where a reload has left nothing to ask: on addresses
// that are gone, or on all of them.
func (s *service) forgetPaths() {
	for a, one := range s.paths {
		if s.path == nil || !slices.ContainsFunc(s.conf.Addresses,
			func(p netip.Prefix) bool { return p.Addr() == a }) {
			one.end()
			delete(s.paths, a)
		}
	}
}

// trustPaths takes every address that is there for one that answers: a reload is
// about to begin a service path, and what was announced without one stays.
func (s *service) trustPaths() {
	for _, p := range s.conf.Addresses {
		if s.present(p) {
			s.paths[p.Addr()] = &oneAddr{alive: true, answered: true,
				stale: true, check: check{fresh: true, end: func() {}}}
		}
	}
}

// asks tells whether the service path is worth asking.
func (s *service) asks() bool {
	return s.seen.Up && s.state.Phase != Down && s.state.Phase != Held
}

// startPath begins to ask on one address, with what was seen there so far.
func (s *service) startPath(ctx context.Context, l *loop, a netip.Addr,
	so *oneAddr) {
	one := &oneAddr{alive: so.alive, answered: so.answered,
		check: check{prime: true, fresh: so.fresh, name: pathName(a)}}
	one.runner = s.path(a, func(r probe.Report) {
		l.send(pathEvent{s, a, one, r})
	})
	s.paths[a] = one
	one.begin(ctx)
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
	if e.report.Verdict.Fails > 0 && e.report.Was == probe.OK {
		e.service.suspect()
	}
	e.one.alive = e.one.alive || e.report.Result.Alive
	if e.report.Result.Cause == probe.Passed {
		e.one.alive, e.one.answered = true, true
	}
}
