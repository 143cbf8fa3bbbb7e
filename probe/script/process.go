package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is a running program, the leader of its process group.
type process struct {
	mu     sync.Mutex
	pid    int
	reaped bool
}

// kill kills the whole group, unless its number may be another's by now.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		// It fails only if nobody is left to kill.
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
}

// execute runs the program to its end, or kills it when ctx is done, on a
// thread that is made for it and ends with it: the kernel kills the program
// when the thread that started it ends (Pdeathsig), and the thread's scheduling
// is the program's.
func (c Config) execute(ctx context.Context) ending {
	end := make(chan ending, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread goes
		if err := scheduleOrdinarily(); err != nil {
			end <- ending{err: err}
			return
		}
		end <- c.run(ctx)
	}()
	return <-end
}

// scheduleOrdinarily takes real-time scheduling from this thread, and so from
// what it starts: the agent's own must not become a program's, which may compute
// for as long as it likes.
func scheduleOrdinarily() error {
	have, err := unix.SchedGetAttr(0, 0)
	if err == nil && have.Policy != unix.SCHED_NORMAL {
		err = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr,
			Policy: unix.SCHED_NORMAL}, 0)
	}
	if err != nil {
		return fmt.Errorf("failed to set the program's scheduling: %w", err)
	}
	return nil
}

// run runs the program on this thread.
func (c Config) run(ctx context.Context) ending {
	out, w, err := newOutput()
	if err != nil {
		return ending{err: err}
	}
	defer out.close()
	cmd := c.command(w)
	err = cmd.Start()
	_ = w.Close() // It has written nothing.
	if err != nil {
		return ending{err: c.notStarted(err)}
	}
	proc := &process{pid: cmd.Process.Pid}
	defer context.AfterFunc(ctx, proc.kill)()
	out.begin()
	err = proc.await(cmd)
	text := out.end()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return ending{err: fmt.Errorf("failed to await %s: %w", c.Command[0], err)}
	}
	return ending{status: unix.WaitStatus(cmd.ProcessState.Sys().(syscall.WaitStatus)), output: text}
}

// await waits for the leader, kills what is left of its group, and reaps it.
// Until then it is a zombie, whose number is nobody else's.
func (p *process) await(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break // Whatever else is wrong, Wait will say it.
		}
	}
	p.kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	return cmd.Wait()
}

// command returns the program, ready to start, with its output going to w.
func (c Config) command(w *os.File) *exec.Cmd {
	return &exec.Cmd{
		Path: c.Command[0],
		Args: c.Command,
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"LANG=C",
			"RECUSE_CHECK=" + c.Check,
			"RECUSE_SERVICE=" + c.Service,
		},
		Dir:         "/",
		Stdout:      w,
		Stderr:      w,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
}

// notStarted says why the program could not be started.
func (c Config) notStarted(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err // The path is named below.
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists(c.Command[0]):
		err = errors.New("the interpreter that its first line names is not there")
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w; make it executable for the agent's user (chmod +x)", err)
	case errors.Is(err, unix.ENOEXEC):
		err = fmt.Errorf("%w; a script begins with a line such as #!/bin/sh", err)
	}
	return fmt.Errorf("failed to start %s: %w", c.Command[0], err)
}

// exists tells whether there is a file of that name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
