package script

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"recuse/probe"
)

// killGrace is for how long the end of a killed process is waited for. It is
// immediate but for one that is stuck in the kernel.
const killGrace = 100 * time.Millisecond

// Config is a program to run.
type Config struct {
	// Command is the program, an absolute path, and its arguments.
	Command []string
	// Check and Service are names that the program is told.
	Check, Service string
}

// Prober runs the program of one Config, one at a time. It is safe for
// concurrent use.
type Prober struct {
	config Config
	free   chan struct{} // holds a token while no process is out
}

var _ probe.Prober = (*Prober)(nil)

// New returns a prober for c, or an error that says which rule c breaks. The
// program need not be there yet.
func New(c Config) (*Prober, error) {
	if len(c.Command) == 0 {
		return nil, errors.New("command: no program to run")
	}
	if !filepath.IsAbs(c.Command[0]) {
		return nil, fmt.Errorf("command: %q is not an absolute path", c.Command[0])
	}
	for _, text := range append([]string{c.Check, c.Service}, c.Command...) {
		if strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("command: %q holds a zero byte", text)
		}
	}
	c.Command = slices.Clone(c.Command)
	p := &Prober{config: c, free: make(chan struct{}, 1)}
	p.free <- struct{}{}
	return p, nil
}

// Probe runs the program once and judges how it ended. It returns by the
// deadline of ctx and the moment that killing takes.
func (p *Prober) Probe(ctx context.Context) probe.Result {
	sent := time.Now()
	select {
	case <-p.free:
	default:
		return probe.Result{Cause: probe.Silent, Outcome: "the run before has not ended"}.Ended(sent)
	}
	return p.run(ctx, sent).Ended(sent)
}

// run runs the program and gives the token back once its process is gone.
func (p *Prober) run(ctx context.Context, sent time.Time) probe.Result {
	ended := make(chan ending, 1)
	go func() {
		e := p.config.execute(ctx)
		p.free <- struct{}{} // Before the result, since the next run may follow it.
		ended <- e
	}()
	select {
	case e := <-ended:
		return e.judge()
	case <-ctx.Done():
		return cut(ctx, sent, ended)
	}
}

// cut returns the result of a run that is being killed.
func cut(ctx context.Context, sent time.Time, ended <-chan ending) probe.Result {
	patience := time.NewTimer(killGrace)
	defer patience.Stop()
	text := "killed, and has not ended: stuck in the kernel, or this box is very busy"
	select {
	case e := <-ended:
		if !e.killed() {
			return e.judge() // It ended by itself just then.
		}
		text = with("killed", e.output)
	case <-patience.C:
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return probe.Result{Outcome: "the probe was ended"}
	}
	return probe.Result{Cause: probe.Silent, Outcome: fmt.Sprintf("timeout after %v, %s", allowed(ctx, sent), text)}
}

// allowed returns the time that a run had which was started at sent.
func allowed(ctx context.Context, sent time.Time) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now()
	}
	return end.Sub(sent).Round(time.Millisecond)
}

// ending is how a run ended.
type ending struct {
	err    error // it could not be started, or not be awaited
	status unix.WaitStatus
	output string // its first line, as it may be shown
}

// killed tells whether the program was killed for its time being over.
func (e ending) killed() bool {
	return e.err == nil && e.status.Signaled() && e.status.Signal() == unix.SIGKILL
}

// judge returns what an ending shows.
func (e ending) judge() probe.Result {
	switch {
	case e.err != nil:
		return probe.Result{Outcome: probe.Printable(e.err.Error(), 300)}
	case e.status.Signaled():
		text := fmt.Sprintf("killed by %s", unix.SignalName(e.status.Signal()))
		return probe.Result{Cause: probe.Wrong, Outcome: with(text, e.output), Alive: true}
	case e.status.ExitStatus() != 0:
		text := fmt.Sprintf("exit %d", e.status.ExitStatus())
		return probe.Result{Cause: probe.Wrong, Outcome: with(text, e.output), Alive: true}
	}
	return probe.Result{Cause: probe.Passed, Outcome: with("exit 0", e.output), Alive: true}
}

// with adds the output, if there is any.
func with(text, output string) string {
	if output == "" {
		return text
	}
	return text + ": " + output
}
