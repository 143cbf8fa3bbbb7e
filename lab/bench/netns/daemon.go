package netns

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"recuse/lab/topology"
)

// daemon is the processes of one program: those of FRR, say, are several.
type daemon struct {
	name      string
	processes []*topology.Process // in the order of their start
}

// Name is what the lab calls it.
func (d *daemon) Name() string { return d.name }

// Running reports whether all of it runs.
func (d *daemon) Running() bool {
	return !slices.ContainsFunc(d.processes, func(p *topology.Process) bool { return !p.Running() })
}

// Start starts it; what must serve before the next one starts is awaited.
func (d *daemon) Start(ctx context.Context) error {
	for _, p := range d.processes {
		if err := p.Launch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stop asks it to end and waits.
func (d *daemon) Stop(ctx context.Context) error {
	for _, p := range slices.Backward(d.processes) {
		if err := p.Finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Kill kills all of it at once and waits.
func (d *daemon) Kill(ctx context.Context) error {
	if err := d.tell(syscall.SIGKILL); err != nil {
		return err
	}
	for _, p := range d.processes {
		if err := p.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Pause stops it where it stands.
func (d *daemon) Pause() error { return d.tell(syscall.SIGSTOP) }

// Continue lets it go on.
func (d *daemon) Continue() error { return d.tell(syscall.SIGCONT) }

// tell sends every process a signal.
func (d *daemon) tell(s syscall.Signal) error {
	var errs []error
	for _, p := range d.processes {
		errs = append(errs, p.Signal(s))
	}
	return errors.Join(errs...)
}
