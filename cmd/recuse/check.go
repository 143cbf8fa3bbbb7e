package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"recuse/agent"
	"recuse/agent/config"
)

// errUsage marks a wrong command line.
var errUsage = errors.New("usage")

// checkCommand validates a configuration.
func checkCommand() *cobra.Command {
	var t target
	var diff bool
	c := &cobra.Command{
		Use:   "check",
		Short: "validate a configuration",
		Long: "Read the configuration and print every error in it. Exit code " +
			"0 if there is none, 2 otherwise.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := validate(c, t.config); err != nil {
				return err
			}
			if diff {
				return showDiff(c, t)
			}
			return nil
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&diff, "diff", false,
		"also say what a reload of the running agent would change")
	return c
}

// validate judges a file, and the file on this box.
func validate(c *cobra.Command, path string) error {
	conf, err := load(path)
	if err != nil {
		return err
	}
	for _, w := range conf.Warnings {
		fmt.Fprintln(c.ErrOrStderr(), "warning:", w)
	}
	if err := agent.CheckBox(conf); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s is valid\n", path)
	return err
}

// unread is a configuration file that cannot be read.
type unread struct{ error }

// Unwrap gives the system's error.
func (u unread) Unwrap() error { return u.error }

// load reads a configuration. Its error is config.Errors, or an unread.
func load(path string) (*config.Config, error) {
	c, err := config.Load(path)
	var problems config.Errors
	if err != nil && !errors.As(err, &problems) {
		return nil, unread{fmt.Errorf("%w; name the file with -c", err)}
	}
	return c, err
}

// configFlag adds -c.
func configFlag(c *cobra.Command, path *string) {
	c.Flags().StringVarP(path, "config", "c", defaultConfig,
		"configuration file")
	usageErrors(c)
}

// usageErrors marks the errors of a command's flags.
func usageErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w", errUsage, err)
	})
}

// noArgs refuses arguments that a command does not take.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %s takes no argument, got %q", errUsage,
			c.Name(), args[0])
	}
	return nil
}
