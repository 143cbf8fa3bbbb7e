package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"recuse/agent/control"
)

// reloadCommand makes the agent read its configuration again.
func reloadCommand() *cobra.Command {
	var t target
	var r control.Reload
	c := &cobra.Command{
		Use:   "reload",
		Short: "apply a changed configuration",
		Long: "Read the configuration again and apply the differences under " +
			"live sessions. A wrong file is refused whole, and so is one that " +
			"would cost a route or a session that is fine, unless that is " +
			"allowed.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			done, err := t.client().Reload(interruptible(c), r)
			if err != nil {
				return noDaemon(err)
			}
			return printReload(c.OutOrStdout(), done, r.DryRun)
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&r.DryRun, "dry-run", false,
		"say what would change, and change nothing")
	c.Flags().BoolVar(&r.AllowWithdraw, "allow-withdraw", false,
		"also make changes that cost routes or sessions")
	return c
}

// showDiff says what a reload of this file would change.
func showDiff(c *cobra.Command, t target) error {
	client := t.client()
	st, err := client.Status(interruptible(c))
	if err != nil {
		return noDaemon(err)
	}
	if path, err := filepath.Abs(t.config); err != nil || path != st.Config.Path {
		return fmt.Errorf("%w: --diff compares with the running agent, whose "+
			"configuration is %s, not %s", errUsage, st.Config.Path, t.config)
	}
	done, err := client.Reload(interruptible(c), control.Reload{DryRun: true,
		AllowWithdraw: true})
	if err != nil {
		return err
	}
	return printReload(c.OutOrStdout(), done, true)
}

// printReload writes what changed or would change.
func printReload(w io.Writer, r control.Reloaded, dry bool) error {
	if len(r.Changes) == 0 {
		_, err := fmt.Fprintln(w, "no change")
		return err
	}
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	for _, c := range r.Changes {
		line("%s", c)
	}
	for _, h := range r.Harms {
		line("COSTS ROUTES: %s", h)
	}
	for _, l := range r.Later {
		line("note: %s", l)
	}
	switch {
	case r.Restarts && dry:
		line("the agent would leave the routing in order and start anew, " +
			"with --allow-withdraw only")
	case r.Restarts:
		line("the agent leaves the routing in order and starts anew")
	case !dry:
		line("applied")
	}
	return err
}
