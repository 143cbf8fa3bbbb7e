package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// How long a process has to end after a first and after a second SIGTERM,
// before it is killed.
const (
	again = 200 * time.Millisecond
	grace = 3 * time.Second
)

// Process is a daemon that the lab starts, signals and starts again. Its
// output of all runs is appended to one file.
type Process struct {
	Name    string
	LogPath string

	// What Launch does around a start; each may be nil.
	Before func() error                    // clears the way
	Ready  func() (ok bool, saw string)    // says when it serves, and what is seen till then
	After  func(ctx context.Context) error // is done once it serves

	ns   *Namespace
	argv func() []string
	gid  int // group to run as; -1: the lab's own

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the current run has been reaped
}

// newProcess describes a process; argv is asked at every start.
func newProcess(ns *Namespace, name, logPath string, argv func() []string) *Process {
	return &Process{Name: name, LogPath: logPath, ns: ns, argv: argv, gid: -1}
}

// Start starts the process inside its namespace. It does not wait for the
// process to be ready. Starting what runs is an error.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return fmt.Errorf("failed to start %s: it runs already", p.Name)
	}
	out, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("failed to open log of %s: %w", p.Name, err)
	}
	defer out.Close()
	argv := p.argv()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = p.attributes()
	if err := p.ns.Do(cmd.Start); err != nil {
		return fmt.Errorf("failed to start %s: %w", p.Name, err)
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go reap(cmd, p.done)
	return nil
}

// Launch starts the process and waits until it serves, as its hooks say.
func (p *Process) Launch(ctx context.Context) error {
	if p.Before != nil {
		if err := p.Before(); err != nil {
			return fmt.Errorf("failed to prepare %s: %w", p.Name, err)
		}
	}
	if err := p.Start(); err != nil {
		return err
	}
	if p.Ready != nil {
		if err := p.ready(ctx, p.Name+" serve", p.Ready); err != nil {
			return err
		}
	}
	if p.After != nil {
		return p.After(ctx)
	}
	return nil
}

// attributes ties the child to its thread. A group is set before the program
// runs: a daemon that changes it by itself would lose the death signal
// (prctl(2), PR_SET_PDEATHSIG).
func (p *Process) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if p.gid >= 0 {
		attr.Credential = &syscall.Credential{Gid: uint32(p.gid)}
	}
	return attr
}

// reap waits for the child. How it ended is in its state; only that it has
// ended matters here.
func reap(cmd *exec.Cmd, done chan<- struct{}) {
	_ = cmd.Wait()
	close(done)
}

// running reports whether a run is under way. The caller holds mu.
func (p *Process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Running reports whether the process runs; a stopped one does.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// PID is the process id of the current or last run, 0 before the first.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return fmt.Errorf("failed to send %s to %s: %w", s, p.Name, os.ErrProcessDone)
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("failed to send %s to %s: %w", s, p.Name, err)
	}
	return nil
}

// tell sends signals to a process that may end, or have ended, meanwhile.
func (p *Process) tell(signals ...os.Signal) error {
	for _, s := range signals {
		if err := p.Signal(s); errors.Is(err, os.ErrProcessDone) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Stop freezes the process (SIGSTOP); Cont lets it go on.
func (p *Process) Stop() error { return p.Signal(syscall.SIGSTOP) }

// Cont lets a frozen process go on.
func (p *Process) Cont() error { return p.Signal(syscall.SIGCONT) }

// Kill kills the process (SIGKILL) and waits until it is reaped.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return p.Wait(context.Background())
}

// Wait waits until the current run has ended, or for ctx.
func (p *Process) Wait(ctx context.Context) error {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("failed to see %s end: %w", p.Name, ctx.Err())
	}
}

// ExitCode is how the last run ended: its exit status, or -1 for a signal.
// It is an error while the process runs or if it never did.
func (p *Process) ExitCode() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.running() {
		return 0, fmt.Errorf("failed to tell how %s ended: it has not", p.Name)
	}
	return p.cmd.ProcessState.ExitCode(), nil
}

// Finish asks the process to end (SIGTERM) and waits until it has, however long
// it takes over it; ctx bounds the wait. It is no error if none runs.
func (p *Process) Finish(ctx context.Context) error {
	if err := p.tell(syscall.SIGTERM); err != nil {
		return err
	}
	return p.Wait(ctx)
}

// End ends the process: SIGTERM, the same again for a daemon that would take
// its time (recuse drains), then SIGKILL after a grace. A frozen process is let
// go so that it can hear. It is no error if none runs.
func (p *Process) End() error {
	for _, wait := range []time.Duration{again, grace} {
		if err := p.tell(syscall.SIGTERM, syscall.SIGCONT); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err := p.Wait(ctx)
		cancel()
		if err == nil {
			return nil
		}
	}
	if err := p.tell(syscall.SIGKILL); err != nil {
		return err
	}
	return p.Wait(context.Background())
}

// Log returns what the process has written so far, in all its runs.
func (p *Process) Log() string {
	// No file yet means that it has not been started: it said nothing.
	text, _ := os.ReadFile(p.LogPath)
	return string(text)
}
