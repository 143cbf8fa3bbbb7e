// Command recuse-lab raises the lab, breaks things in it, and says what a
// client felt.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK    = 0
	exitBox   = 1 // something on this box is in the way, or it was interrupted
	exitUsage = 2 // the command line is wrong
	exitVoid  = 3 // something ran and says nothing: void, or ended by an error
)

// errUsage is a wrong command line.
var errUsage = errors.New("wrong command line")

// exitCode is an error that ends the program quietly with a code: all there is
// to say has been said.
type exitCode int

// Error makes an exitCode an error.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// version is set by the linker.
var version = "devel"

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns the exit code. SIGINT and SIGTERM
// end what runs, and the lab is cleaned up; the second one ends the program at
// once, and the next lab sweeps what it left.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT,
		syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "recuse-lab: interrupted; the lab is cleaned up")
		return exitBox
	}
	fmt.Fprintln(os.Stderr, "recuse-lab:", err)
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitBox
}

// newRoot is the command with all of its commands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:                        "recuse-lab",
		Short:                      "raise the lab, break things in it, say what a client felt",
		Long:                       "Raise a network with DNS resolvers, break one thing, and measure what a client\nfelt. Everything happens in network namespaces of its own; root is needed.",
		Version:                    version,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       noSuchCommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(listCommand(), runCommand(), upCommand(), downCommand(),
		shellCommand(), loadCommand(), reportCommand(), reverseCommand(),
		rampCommand(), demoCommand())
	usageErrors(root)
	return root
}

// noSuchCommand refuses what is not a command.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("%w: unknown command %q", errUsage, args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return err
}

// usageErrors makes what cobra says of flags and arguments errUsage.
func usageErrors(root *cobra.Command) {
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w; see %s --help", errUsage, err, c.CommandPath())
	})
	for _, c := range root.Commands() {
		check := c.Args
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil && !errors.Is(err, errUsage) {
				return fmt.Errorf("%w: %w; see %s --help", errUsage, err, c.CommandPath())
			} else if err != nil {
				return err
			}
			return nil
		}
	}
}
