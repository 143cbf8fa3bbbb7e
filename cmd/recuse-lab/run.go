package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/load/stub"
	"recuse/lab/report"
	"recuse/lab/result"
	"recuse/lab/scenario"
)

// runFlags are the flags of run.
type runFlags struct {
	choices
	box

	out           string
	scale, rate   float64
	jobs          int
	repeat, again int
	transport     string
}

// runCommand plays scenarios.
func runCommand() *cobra.Command {
	var r runFlags
	c := &cobra.Command{
		Use:   "run [SCENARIO...]",
		Short: "break things, measure what clients felt, write a report",
		Long: `Play scenarios, all of them if none is named, each on a network of its own:
calm, the fault, its revert, calm again, under clients that never stop asking.
A run proves from the packets and the kernel that its fault met the node that
served the clients, and is void without. Each leaves a directory with its
figures, every question, and the logs; report.html is made of all of them.

Exit status: 0 if every run says something (a scenario that cannot be on a
setup is left out, with the reason); 3 if a run is void or an error ended it;
2 for a wrong command line; 1 if this box is in the way.`,
		Example: `  # one run of each scenario, as short as its fault allows
  recuse-lab run --scale 0.1 --jobs 3 --out out/lab-quick
  # every design, full length
  recuse-lab run --design baseline,relay,anycast --out out/lab
  # a power cut, with each of the last resorts
  recuse-lab run all-dead --last-resort none,floating,policy,redirect
  # this project beside the others, with their defaults and tuned
  recuse-lab run node-frozen resolver-stopped --agent recuse,exabgp,frr-script,bird-script,keepalived --out out/compare
  recuse-lab run node-frozen resolver-stopped --agent recuse,exabgp,frr-script,bird-script,keepalived --tuned --out out/compare
  # one client that asks 20 times a second
  recuse-lab run node-frozen --clients 1 --rate 20`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return r.run(c, args) },
	}
	r.choices.flags(c)
	r.box.flags(c)
	f := c.Flags()
	f.StringSliceVar(&r.stubs, "stub", []string{usualStub}, "how clients ask: "+join(stubNames())+"; several with commas between them")
	f.StringVar(&r.out, "out", "", "directory for the results (default out/ and the time)")
	f.Float64Var(&r.scale, "scale", 1, "how long the phases are; 0.1 is a tenth, but never shorter than the fault needs")
	f.Float64Var(&r.rate, "rate", 100, "questions a second of all clients together")
	f.IntVar(&r.jobs, "jobs", 1, "how many networks at once; they disturb each other's times a little")
	f.IntVar(&r.repeat, "repeat", 1, "how many runs of each")
	f.IntVar(&r.again, "again", 4, "how often a run is made anew if the box was too busy for the generator")
	f.StringVar(&r.transport, "transport", string(load.UDP), "how clients reach their servers, where the scenario leaves it open: "+join(transports()))
	return c
}

// flags adds what says how a bench is raised.
func (b *box) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&b.recuse, "recuse", beside("recuse"), "the agent's binary; recuse-authority is beside it")
	f.IntVar(&b.clients, "clients", 5, "how many clients ask, at least")
	f.IntVar(&b.nodes, "nodes", 3, "how many nodes serve")
	f.BoolVar(&b.bare, "without-peering-settings", false, "in the layout flat, without the kernel settings that `recuse peering` writes")
	f.BoolVar(&b.keep, "keep", false, "leave the run directories in /run/recuse-lab behind")
	b.incusFlags.flags(f)
}

// check refuses what cannot be.
func (r *runFlags) check() error {
	if err := errors.Join(r.choices.check(), r.incusFlags.check(r.backend)); err != nil {
		return err
	}
	if err := known("transport", r.transport, transports()); err != nil {
		return err
	}
	for _, n := range []struct {
		flag  string
		value float64
		least float64
		most  float64
	}{
		{"scale", r.scale, 0, 1000}, {"rate", r.rate, 1, load.MaxRate}, {"jobs", float64(r.jobs), 1, 64},
		{"repeat", float64(r.repeat), 1, 1000}, {"again", float64(r.again), 0, 100},
		{"clients", float64(r.clients), 1, 100}, {"nodes", float64(r.nodes), 2, 40},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("%w: --%s: %v: must be from %v to %v", errUsage, n.flag, n.value, n.least, n.most)
		}
	}
	return nil
}

// run plays what the command line says.
func (r *runFlags) run(c *cobra.Command, args []string) error {
	if err := r.check(); err != nil {
		return err
	}
	scenarios, err := scenario.ByName(args...)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	setups := r.on(r.choices)
	if err := r.missing(setups); err != nil {
		return err
	}
	if r.out == "" {
		r.out = filepath.Join("out", time.Now().Format("20060102-150405"))
	}
	tasks, err := r.tasks(scenarios, setups)
	if err != nil {
		return err
	}
	if err := free(r.out, tasks); err != nil {
		return err
	}
	p := newProgress(c.OutOrStdout(), len(tasks))
	batch := scenario.Batch{Out: r.out, Jobs: r.jobs, Again: r.again, Step: p.step, Done: p.finished}
	tally, err := batch.Run(c.Context(), tasks)
	p.end()
	if err != nil {
		return errors.Join(err, r.kept(tally))
	}
	if err := writeReport(c.OutOrStdout(), r.out, "", report.Markdown); err != nil {
		return err
	}
	if tally.Void+tally.Failed > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "recuse-lab: %d runs are void and %d were ended by an error: see above, and the logs in %s\n",
			tally.Void, tally.Failed, r.out)
		return exitCode(exitVoid)
	}
	return nil
}

// kept says where the finished runs of an interrupted batch are.
func (r *runFlags) kept(t scenario.Tally) error {
	if n := t.Counted + t.Void + t.LeftOut + t.Failed; n > 0 {
		return fmt.Errorf("%d runs had ended: recuse-lab report %s tells of them", n, r.out)
	}
	return nil
}

// tasks are all scenarios on all setups, so many times.
func (r *runFlags) tasks(scenarios []scenario.Scenario, setups []result.Setup) ([]scenario.Task, error) {
	var tasks []scenario.Task
	for n := range r.repeat {
		for _, s := range scenarios {
			for _, on := range setups {
				model, err := stub.ByName(on.Stub)
				if err != nil {
					return nil, fmt.Errorf("%w: %w", errUsage, err)
				}
				tasks = append(tasks, scenario.Task{
					Scenario: s, Setup: on,
					Options: scenario.Options{ID: id(s, on, n+1), Scale: r.scale, Rate: r.rate, Stub: model,
						Transport: load.Transport(r.transport)},
					Raise: func(ctx context.Context, needs scenario.Needs) (bench.Bench, error) {
						return r.raise(ctx, on, needs)
					},
				})
			}
		}
	}
	return tasks, nil
}

// free refuses a directory that holds one of the runs already.
func free(out string, tasks []scenario.Task) error {
	for _, t := range tasks {
		own := filepath.Join(out, t.Options.ID)
		if _, err := os.Lstat(own); err == nil {
			return fmt.Errorf("%w: --out: %s is there already: choose another directory, or delete it", errUsage, own)
		}
	}
	return nil
}
