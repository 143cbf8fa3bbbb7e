package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"recuse/lab/bench"
	"recuse/lab/result"
	"recuse/lab/scenario"
	"recuse/lab/topology"
)

// upFlags are the flags of up.
type upFlags struct {
	choices
	box
	stale  bool
	detach bool
	ready  int // descriptor to which a detached lab says that it is up; 0: none
}

// upCommand raises a lab to play with.
func upCommand() *cobra.Command {
	var u upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "raise a network to play with, until Ctrl-C or `recuse-lab down`",
		Example: `  recuse-lab up
  recuse-lab up --detach --router bird --last-resort policy
  recuse-lab shell n1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return u.run(c) },
	}
	u.choices.flags(c)
	u.box.flags(c)
	f := c.Flags()
	f.BoolVar(&u.stale, "serve-stale", false, "the resolvers answer from expired cache")
	f.BoolVar(&u.detach, "detach", false, "return when the network is up, and leave it so")
	f.IntVar(&u.ready, "ready-fd", 0, "say so on this descriptor when the network is up")
	_ = f.MarkHidden("ready-fd")
	return c
}

// run raises the one setup that was chosen.
func (u *upFlags) run(c *cobra.Command) error {
	u.stubs = []string{usualStub}
	if err := errors.Join(u.choices.check(), u.incusFlags.check(u.backend)); err != nil {
		return err
	}
	setups := u.on(u.choices)
	if len(setups) != 1 {
		return fmt.Errorf("%w: up raises one network, not %d: give one value to each flag", errUsage, len(setups))
	}
	if err := u.missing(setups); err != nil {
		return err
	}
	if u.detach {
		return detach(c)
	}
	return u.hold(c, setups[0])
}

// hold raises the lab and keeps it until the end of the command's context.
func (u *upFlags) hold(c *cobra.Command, s result.Setup) (err error) {
	ctx, out := c.Context(), c.OutOrStdout()
	if u.ready > 0 {
		unix.CloseOnExec(u.ready) // else every daemon of the lab holds it too
	}
	fmt.Fprintln(out, "raising")
	b, err := u.raise(ctx, s, scenario.Needs{ServeStale: u.stale})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Ready(ctx); err != nil {
		return err
	}
	hosts, err := hostsOf(b)
	if err != nil {
		return err
	}
	up := standing{PID: os.Getpid(), Setup: b.Setup(), Hosts: hosts}
	fall, err := stand(up)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fall()) }()
	explain(out, up, b)
	if u.ready > 0 {
		if err := os.NewFile(uintptr(u.ready), "ready").Close(); err != nil {
			return fmt.Errorf("failed to say that the lab is up: %w", err)
		}
	}
	<-ctx.Done()
	fmt.Fprintln(out, "taking it down")
	return nil
}

// explain says what there is and what can be done with it.
func explain(out io.Writer, up standing, b bench.Bench) {
	var servers []string
	for _, s := range b.Servers() {
		servers = append(servers, s.Addr().String())
	}
	s := up.Setup
	fmt.Fprintf(out, `up: design %s, router %s, agent %s, layout %s, last resort %s (process %d)

clients ask: %s
hosts:       %s

  recuse-lab shell n1                                  a shell on a host
%s  recuse-lab shell client -- recuse-lab load %s  questions from a client
  recuse-lab down                                      ends it, as Ctrl-C here does

`, s.Design, s.Router, s.Agent, s.Layout, s.LastResort, up.PID, strings.Join(servers, ", then "),
		strings.Join(up.names(), " "), askAgent(s), strings.Join(servers, " "))
}

// askAgent is the line that says how a node's agent is asked, if it is ours.
func askAgent(s result.Setup) string {
	if s.Agent != agentRecuse {
		return ""
	}
	ask := "recuse status"
	if s.Backend == namespaces {
		spaces, err := topology.NamespacesOf(os.Getpid())
		if err != nil {
			return ""
		}
		ask += " -c " + filepath.Join(topology.DirOf(spaces["n1"]), topology.ConfigFile)
	}
	return "  recuse-lab shell n1 -- " + ask + "\n"
}

// detach starts this program again, in a session of its own, and waits until
// its lab is up.
func detach(c *cobra.Command) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("failed to find this program: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("failed to make pipe: %w", err)
	}
	defer read.Close()
	if err := os.MkdirAll(standingDir, 0o755); err != nil {
		return fmt.Errorf("failed to make directory of labs: %w", err)
	}
	log, err := os.CreateTemp(standingDir, "*.log")
	if err != nil {
		return fmt.Errorf("failed to make log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, append(again(), "--ready-fd=3")...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("failed to start a lab: %w", err), write.Close())
	}
	_ = write.Close()
	return await(c.Context(), c.OutOrStdout(), cmd, read, log.Name())
}

// again is this command line without --detach.
func again() []string {
	var args []string
	for _, a := range os.Args[1:] {
		if a != "--detach" && a != "--detach=true" {
			args = append(args, a)
		}
	}
	return args
}

// await waits for the detached lab and says what it said. The end of its pipe
// means that it is up or that it has ended; the list of labs tells which.
func await(ctx context.Context, out io.Writer, cmd *exec.Cmd, ready *os.File, log string) error {
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })()
	_, _ = io.Copy(io.Discard, ready)
	text, err := os.ReadFile(log)
	if err != nil {
		return fmt.Errorf("failed to read log: %w", err)
	}
	_ = os.Remove(log)
	if _, err := oneStanding(cmd.Process.Pid); err != nil {
		_ = cmd.Wait()
		return fmt.Errorf("failed to raise a lab: %s", strings.TrimSpace(string(text)))
	}
	_, err = out.Write(text)
	return err
}
