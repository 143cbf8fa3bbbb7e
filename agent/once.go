package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"recuse/agent/config"
	"recuse/netlinkx"
	"recuse/probe"
)

// signWithin bounds each other question to a server that failed.
const signWithin = time.Second

// Sample is what one probe of a check saw without an agent.
type Sample struct {
	Service, Check string
	Info           bool // shown and never counted
	Result         probe.Result
	// Life is what the server answered to other questions, if its answer to the
	// check's own did not come.
	Life string
}

// asker is one check that can be asked.
type asker struct {
	sample Sample // without a result
	check  config.Check
	prober probe.Prober
	// path marks the service path, which learns by a first failure from which
	// source it is answered: a port that a container
	// publishes drops loopback sources.
	path bool
}

// ProbeAll asks every check of a configuration so many times, at the checks'
// intervals and all of them side by side, and hands over what each saw, one at a
// time. The service path is asked on the service addresses that are on this box.
// It ends early with ctx, which is no error.
func ProbeAll(ctx context.Context, c *config.Config, times int,
	show func(Sample)) error {
	var all []asker
	for i, s := range c.Services {
		list, err := askers(s)
		if err != nil {
			return fmt.Errorf("services[%d].%w", i, err)
		}
		all = append(all, list...)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, a := range all {
		wg.Go(func() {
			a.ask(ctx, times, func(s Sample) {
				mu.Lock()
				defer mu.Unlock()
				show(s)
			})
		})
	}
	wg.Wait()
	return nil
}

// askers are the checks of a service, the service path included.
func askers(s config.Service) ([]asker, error) {
	var list []asker
	for i, c := range s.Checks {
		p, err := proberOf(s.Name, c)
		if err != nil {
			return nil, fmt.Errorf("checks[%d]: %w", i, err)
		}
		list = append(list, asker{Sample{Service: s.Name, Check: c.Name,
			Info: c.Failure == config.FailureInfo}, c, p, false})
	}
	first, ok := PathCheck(s)
	if !ok {
		return list, nil
	}
	paths, err := pathProbers(s, first)
	if err != nil {
		return nil, err
	}
	there, err := presentNow(s)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Addresses {
		if slices.Contains(there.Present, p) && there.Up {
			list = append(list, asker{Sample{Service: s.Name,
				Check: pathName(p.Addr())}, first, paths[p.Addr()], true})
		}
	}
	return list, nil
}

// presentNow is what the kernel says of a service's link.
func presentNow(s config.Service) (netlinkx.State, error) {
	state, err := Observe(s)
	if err != nil && !state.Exists {
		return state, fmt.Errorf("link: %w", err)
	}
	return state, nil
}

// ask asks one check so many times.
func (a asker) ask(ctx context.Context, times int, show func(Sample)) {
	tick := time.NewTicker(a.check.Interval)
	defer tick.Stop()
	if a.path {
		_ = a.once(ctx) // to learn the source
	}
	for i := range times {
		if i > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		if s := a.once(ctx); ctx.Err() == nil {
			show(s)
		}
	}
}

// once asks the check, and a server that does not answer what else it can
// answer: a path behind it that hangs is another fault than a server that does.
func (a asker) once(ctx context.Context) Sample {
	s := a.sample
	asked, cancel := context.WithTimeout(ctx, a.check.Timeout)
	s.Result = a.prober.Probe(asked)
	cancel()
	signer, ok := a.prober.(probe.Signer)
	if !ok || s.Result.Cause != probe.Silent {
		return s
	}
	for _, sign := range signer.Signs() {
		looking, cancel := context.WithTimeout(ctx, signWithin)
		s.Life = sign.Look(looking)
		cancel()
		if s.Life != "" {
			break
		}
	}
	return s
}
