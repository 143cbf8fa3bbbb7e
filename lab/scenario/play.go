package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/load/stub"
	"recuse/lab/result"
)

// Options say how a scenario is played.
type Options struct {
	ID    string     // of the result
	Scale float64    // of the lengths; 0 is 1
	Rate  float64    // questions a second of all clients together
	Stub  stub.Model // how a client asks
	// Transport is how clients reach their servers, where the scenario has no
	// wish of its own; UDP if empty.
	Transport load.Transport
	Warm      time.Duration // for how long the clients ask before anything counts; 0: 1.5 s
	// Step is told what happens, for the progress of a run; nil: nobody.
	Step func(text string)
}

// say tells a step.
func (o Options) say(text string) {
	if o.Step != nil {
		o.Step(text)
	}
}

// How long a bench may take, after the revert, until all serve as before: twice
// the longest that a hold of a fresh agent and FRR's slowest retry come to.
const readyWithin = 90 * time.Second

// Play plays a scenario on a bench that is ready. An error is one of the lab
// itself, or of ctx; what the scenario shows, or why it shows nothing, is in the
// result. The bench is not as it was before.
func Play(ctx context.Context, s Scenario, b bench.Bench, o Options) (result.Run, []load.Record, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	r := &Run{Bench: b, scenario: s, options: o, started: time.Now(),
		looks: map[string]look{}, seen: map[string]result.Proof{}}
	if err := s.applies(r.setup()); err != nil {
		return r.leftOut(err), nil, nil
	}
	err := r.play(ctx)
	switch {
	case errors.Is(err, bench.ErrUnsupported):
		return r.leftOut(err), nil, nil
	case err != nil:
		return result.Run{}, nil, fmt.Errorf("failed to play %s: %w", s.Name, err)
	}
	return r.result(ctx), r.records, nil
}

// play does all of it and leaves what it saw in r.
func (r *Run) play(ctx context.Context) error {
	if r.scenario.Prepare != nil {
		if err := r.scenario.Prepare(ctx, r); err != nil {
			return err
		}
	}
	if err := r.warm(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := r.Bench.Observe(ctx)
	if err != nil {
		return err
	}
	gathered := make(chan struct{})
	go func() {
		defer close(gathered)
		for e := range events {
			r.observe(e)
		}
	}()
	asking := r.ask(ctx)
	err = r.walk(ctx, asking)
	records, loadErr := asking.end()
	r.records = records
	cancel()
	<-gathered
	return errors.Join(err, loadErr)
}

// walk goes through the phases.
func (r *Run) walk(ctx context.Context, asking *asking) error {
	s := r.scenario
	steps := []struct {
		phase string
		do    func() error
	}{
		{Calm, func() error { return r.calm(ctx, asking) }},
		{Action, func() error { return call(ctx, s.Act, r) }},
		{Fault, func() error { return r.fault(ctx) }},
		{Revert, func() error { return call(ctx, s.Undo, r) }},
		{After, func() error { return r.after(ctx) }},
	}
	first, err := r.look(ctx)
	if err != nil {
		return err
	}
	r.looks[""] = first
	from := time.Now()
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.phase, err)
		}
		if r.looks[step.phase], err = r.look(ctx); err != nil {
			return err
		}
		p := result.Phase{Name: step.phase, From: from, To: time.Now()}
		r.phases, from = append(r.phases, p), p.To
	}
	return nil
}

// call calls a part of a scenario that it may not have.
func call(ctx context.Context, part func(context.Context, *Run) error, r *Run) error {
	if part == nil {
		return nil
	}
	return part(ctx, r)
}

// calm lets the clients ask and picks the node that serves them.
func (r *Run) calm(ctx context.Context, asking *asking) error {
	d := r.scenario.Calm.or(usualCalm).at(r.options.Scale)
	r.options.say(fmt.Sprintf("calm for %s", d.Round(time.Millisecond)))
	if err := load.Pause(ctx, d); err != nil {
		return err
	}
	var err error
	r.Node, err = most(r.Bench.Nodes(), asking.nodes())
	return err
}

// most is the node of most answers.
func most(nodes []bench.Node, answers map[string]int) (bench.Node, error) {
	var best bench.Node
	for _, n := range nodes {
		if best == nil || answers[n.Name()] > answers[best.Name()] {
			best = n
		}
	}
	if best == nil || answers[best.Name()] == 0 {
		return nil, fmt.Errorf("no node answered a client: answers by node %v", answers)
	}
	return best, nil
}

// fault lets the fault last.
func (r *Run) fault(ctx context.Context) error {
	d := r.scenario.Fault.or(usualFault).at(r.options.Scale)
	r.options.say(fmt.Sprintf("fault for %s", d.Round(time.Millisecond)))
	until := time.Now().Add(d)
	if r.scenario.During != nil {
		limit, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		if err := r.scenario.During(limit, r); err != nil && limit.Err() == nil {
			return err
		}
	}
	return load.Pause(ctx, time.Until(until))
}

// after waits until all is as it was, and for as long as the phase lasts at
// least. A bench that does not get there is a finding, not an error.
func (r *Run) after(ctx context.Context) error {
	d := r.scenario.After.or(usualAfter).at(r.options.Scale)
	r.options.say(fmt.Sprintf("calm again, for %s at least", d.Round(time.Millisecond)))
	from := time.Now()
	limit, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := r.Bench.Ready(limit); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.Note("not as before within %s of the revert: %v", time.Since(from).Round(time.Second), err)
	}
	r.up()
	return load.Pause(ctx, time.Until(from.Add(d)))
}
