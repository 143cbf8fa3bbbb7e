package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/netlinkx"
)

// Restart is how Run ends when a reload that was allowed to cost routes cannot
// be made under live sessions: the node has left in order, and the agent is to
// be made anew.
type Restart struct{ Config *config.Config }

// Error makes a Restart an error.
func (*Restart) Error() string { return "the configuration asks for a restart" }

// Reload reads the configuration file again and applies the differences. It is
// all or nothing: on an error the old configuration stays in force.
func (a *Agent) Reload(ctx context.Context, r control.Reload) (
	control.Reloaded, error) {
	a.reloading.Lock() // what was read last is in force last
	defer a.reloading.Unlock()
	var own []netlinkx.Config
	if err := a.loop.call(ctx, func() { own = a.loop.made() }); err != nil {
		return control.Reloaded{}, err
	}
	next, err := config.Load(a.conf.Path)
	if err == nil {
		err = checkBox(next, own)
	}
	var done control.Reloaded
	if e := a.loop.call(ctx, func() {
		if err == nil {
			done, err = a.loop.reload(next, r)
		}
		if !r.DryRun {
			a.loop.noteReload(err)
		}
	}); e != nil {
		return control.Reloaded{}, e // done may yet be written
	}
	return done, err
}

// made are the links that this agent has made.
func (l *loop) made() []netlinkx.Config {
	var list []netlinkx.Config
	for _, s := range l.services {
		if s.conf.Link.Kind != config.KindExisting {
			list = append(list, holding(s.conf))
		}
	}
	return list
}

// noteReload keeps for status and metrics how the last reload went.
func (l *loop) noteReload(err error) {
	l.about.ReloadFailed = err != nil
	l.alarms.set("reload", "")
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		l.alarms.set("reload", "the last reload was refused: "+first)
		l.log.Error("reload refused, the old configuration stays in force",
			"error", err)
		return
	}
	l.about.LoadedAt = time.Now()
	l.log.Info("configuration reloaded")
}

// reload judges the differences and applies them. It runs in the loop.
func (l *loop) reload(next *config.Config, r control.Reload) (
	control.Reloaded, error) {
	if l.stop {
		return control.Reloaded{}, errors.New("the agent is stopping")
	}
	done := control.Reloaded{Changes: []string{},
		Harms: harms(l.conf, next, l.announcedNow), Later: later(l.conf, next)}
	for _, c := range config.Diff(l.conf, next) {
		done.Changes = append(done.Changes, c.String())
	}
	done.Restarts = len(done.Harms) > 0
	switch {
	case done.Restarts && !r.AllowWithdraw:
		return done, fmt.Errorf("this would cost routes that are fine; "+
			"nothing was changed; --allow-withdraw does it all the same:\n%s",
			strings.Join(done.Harms, "\n"))
	case r.DryRun:
		return done, nil
	case done.Restarts:
		l.restart(next)
		return done, nil
	}
	return done, l.apply(next)
}

// announcedNow tells whether a service has a route out.
func (l *loop) announcedNow(name string) bool {
	s, err := l.service(name)
	return err == nil && len(s.routes()) > 0
}

// restart asks Run to leave in order and to end with a Restart.
func (l *loop) restart(next *config.Config) {
	select {
	case l.again <- next:
	default: // one is under way
	}
}

// apply makes the differences real. Whatever can fail comes first, and what it
// did is taken back if a later part fails.
func (l *loop) apply(next *config.Config) error {
	var back undo
	var drafts []draft
	for _, c := range next.Services {
		d, err := l.draft(c, &back)
		if err != nil {
			return errors.Join(fmt.Errorf("services[%s]: %w", c.Name, err),
				back.run())
		}
		drafts = append(drafts, d)
	}
	if !reflect.DeepEqual(l.conf.BGP, next.BGP) {
		if err := l.speaker.Update(next.BGP); err != nil {
			return errors.Join(fmt.Errorf("bgp: %w", err), back.run())
		}
	}
	l.drop(next)
	l.services = nil
	for _, d := range drafts {
		d.commit(l)
		l.services = append(l.services, d.service)
	}
	l.level.Set(next.Log.Level)
	l.conf = next
	return nil
}

// drop ends the services that are not configured any more. None of them is
// announced: that would have been refused.
func (l *loop) drop(next *config.Config) {
	for _, s := range l.services {
		if slices.ContainsFunc(next.Services, func(c config.Service) bool {
			return c.Name == s.conf.Name
		}) {
			continue
		}
		s.end()
		if err := s.link.Remove(); err != nil {
			s.linkFailed(l, err)
		}
	}
}

// draft is a service as it will be.
type draft struct {
	service *service
	conf    config.Service
	checks  []*check
	path    pathMaker
	// asksAnew tells that the service path asks another question, or elsewhere.
	asksAnew bool
}

// draft prepares a service, new or changed, without touching what it does. What
// it claims on the box is registered to be taken back.
func (l *loop) draft(c config.Service, back *undo) (draft, error) {
	s, err := l.service(c.Name)
	if err != nil {
		return l.draftNew(c, back)
	}
	d := draft{service: s, conf: c, asksAnew: !reflect.DeepEqual(
		pathQuestion(s.conf), pathQuestion(c))}
	for i, cc := range c.Checks {
		made, err := l.keepOrMake(s, cc, i == 0)
		if err != nil {
			return d, fmt.Errorf("checks[%s]: %w", cc.Name, err)
		}
		d.checks = append(d.checks, made)
	}
	if d.path, err = l.maker.path(c); err != nil {
		return d, err
	}
	if !slices.Equal(s.conf.Addresses, c.Addresses) {
		before := s.conf.Addresses
		if err := s.link.SetAddresses(c.Addresses); err != nil {
			return d, err
		}
		back.add("restore the addresses of "+c.Name, func() error {
			return s.link.SetAddresses(before)
		})
	}
	return d, nil
}

// draftNew prepares a service that did not exist: it takes its link.
func (l *loop) draftNew(c config.Service, back *undo) (draft, error) {
	s, err := l.maker.take(c, back)
	if err != nil {
		return draft{}, err
	}
	return draft{service: s, conf: c, checks: s.checks, path: s.path}, nil
}

// keepOrMake keeps a check that is the same, with all that it knows, and makes
// one that is not. A made one counts only after its first pass, so that a
// mistake in it costs nothing.
func (l *loop) keepOrMake(s *service, c config.Check, first bool) (*check, error) {
	for _, old := range s.checks {
		if old.prime == first && reflect.DeepEqual(old.conf, c) {
			return old, nil
		}
	}
	made, err := l.maker.check(s, c, first)
	if err == nil {
		made.fresh = true
	}
	return made, err
}

// pathQuestion is all that the service path depends on.
func pathQuestion(c config.Service) any {
	check, ok := PathCheck(c)
	return []any{c.ServicePath, check, ok}
}

// commit puts the draft in force. It cannot fail.
func (d draft) commit(l *loop) {
	s := d.service
	for _, old := range s.checks {
		if old.end != nil && !slices.Contains(d.checks, old) {
			old.end()
		}
	}
	watchesElsewhere := s.conf.DrainFile != d.conf.DrainFile
	if s.path == nil {
		s.trustPaths()
	}
	s.conf, s.checks, s.path = d.conf, d.checks, d.path
	s.rules, s.policy = rulesOf(d.conf), policyOf(d.conf)
	s.state.Hold = s.state.Hold.under(s.rules)
	s.dirty = true
	for _, one := range s.paths {
		one.stale = one.stale || d.asksAnew
		one.fresh = one.fresh || d.asksAnew
	}
	if watchesElsewhere {
		s.wishes.file = false
		s.unwatch()
		s.unwatch = nil // so that begin looks for the other one
	}
}
