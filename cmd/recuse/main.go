// Command recuse is an anycast node agent: it holds a service address,
// announces it with BGP while the service is fit, and withdraws it when not.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"recuse/agent/config"
)

// Exit codes, besides those that a command documents for itself.
const (
	exitOK     = 0
	exitBox    = 1 // something on this box is in the way
	exitConfig = 2 // the configuration or the command line is wrong
)

// version is set by the linker.
var version = "devel"

func main() { os.Exit(run(os.Args[1:])) }

// exitCode is an error that ends the program quietly with a code: all there is
// to say has been said.
type exitCode int

// Error makes an exitCode an error.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// coded is an error that is said, and ends the program with a code of its own.
type coded struct {
	code int
	error
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

// run executes one command line and returns the exit code.
func run(args []string) int {
	root := &cobra.Command{
		Use:           "recuse",
		Short:         "anycast node agent: announces a service while it is fit",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(runCommand(), checkCommand(), statusCommand(),
		drainCommand(), undrainCommand(), resumeCommand(), eventsCommand(),
		reloadCommand(), peeringCommand(), probeCommand(),
		budgetCommand(), whichCommand(), doctorCommand())
	usageErrors(root)
	root.SetArgs(args)
	err := root.Execute()
	var code exitCode
	var problems config.Errors
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &problems):
		fmt.Fprintln(os.Stderr, problems.Error())
		return exitConfig
	}
	fmt.Fprintln(os.Stderr, "recuse:", err)
	var own coded
	var file unread
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.Is(err, errUsage), errors.As(err, &file):
		return exitConfig
	}
	return exitBox
}
