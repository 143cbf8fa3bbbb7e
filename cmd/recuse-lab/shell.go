package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

// shellCommand runs a shell, or a command, on a host of a lab that is up.
func shellCommand() *cobra.Command {
	var pid int
	c := &cobra.Command{
		Use:   "shell HOST [-- COMMAND...]",
		Short: "open a shell on a host of what `recuse-lab up` raised, or run a command there",
		Example: `  recuse-lab shell n1
  recuse-lab shell r1 -- vtysh -c 'show bgp summary'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			lab, err := oneStanding(pid)
			if err != nil {
				return err
			}
			into, ok := lab.Hosts[args[0]]
			if !ok {
				return fmt.Errorf("%w: host %q: must be one of %s", errUsage, args[0], join(lab.names()))
			}
			return enter(c, lab, args[0], into, args[1:])
		},
	}
	c.Flags().IntVar(&pid, "pid", 0, "process of the lab, if several are up")
	return c
}

// enter runs a command on a host, a shell if there is none; its exit code is
// ours.
func enter(c *cobra.Command, lab standing, host string, into, command []string) error {
	if len(command) == 0 {
		command = []string{lab.shell()}
	}
	line := slices.Concat(into, command)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.OutOrStdout(), c.ErrOrStderr()
	cmd.Env = append(os.Environ(), lab.environment(host)...)
	// The shell gets the terminal's signals by itself.
	signal.Ignore(syscall.SIGINT)
	defer signal.Reset(syscall.SIGINT)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitCode(max(exit.ExitCode(), 1))
	}
	if err != nil {
		return fmt.Errorf("failed to run %s on %s: %w", command[0], host, err)
	}
	return nil
}

// environment tells a shell where it is: its prompt, our programs, and the
// configuration and control sockets of the host's own daemons.
func (s standing) environment(host string) []string {
	env := []string{"PS1=" + host + "# "}
	if self, err := os.Executable(); err == nil {
		env = append(env, "PATH="+filepath.Dir(self)+":"+os.Getenv("PATH"))
	}
	return env
}

// shell is the user's own, or in a container one that every Debian has.
func (s standing) shell() string {
	if own := os.Getenv("SHELL"); own != "" && s.Setup.Backend == namespaces {
		return own
	}
	return "/bin/sh"
}
