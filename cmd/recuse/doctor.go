package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"recuse/agent/doctor"
)

// exitUnwell says that the doctor found something, or could not look.
const exitUnwell = 3

// doctorCommand looks for what breaks anycast on this box.
func doctorCommand() *cobra.Command {
	var t target
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "look for what commonly breaks anycast on this box",
		Long: "Look at the kernel's settings, links, routes, sockets and packet " +
			"filter, run the checks (programs of exec checks among them), and ask " +
			"the agent, if one runs, how it stands. Nothing is changed.\n\n" +
			"An error breaks the service, or will once the node leaves; a warning " +
			"does so under a condition that is likely to come; unknown is what " +
			"could not be looked at, for want of permission, say; a note is wrong " +
			"only if it is not meant.\n\n" +
			"Exit code 0: all was looked at, and there is nothing but notes; 3: " +
			"something was found, or could not be looked at; 2: the configuration " +
			"or the command line is wrong.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return examine(c, t, asJSON)
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// examine looks, prints, and chooses the exit code.
func examine(c *cobra.Command, t target, asJSON bool) error {
	path, err := filepath.Abs(t.config) // as the agent names it
	if err != nil {
		return fmt.Errorf("failed to find %s: %w", t.config, err)
	}
	conf, err := load(path)
	if err != nil {
		return err
	}
	ctx := interruptible(c)
	report := doctor.Examine(doctor.Look(ctx, conf, t.client()))
	if ctx.Err() != nil {
		return context.Cause(ctx) // half a look is none
	}
	if asJSON {
		err = printJSON(c.OutOrStdout(), report)
	} else {
		err = printReport(c.OutOrStdout(), report)
	}
	if err == nil && !report.Healthy() {
		return exitCode(exitUnwell)
	}
	return err
}

// printReport writes the findings for people, and their sum.
func printReport(w io.Writer, r doctor.Report) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(w, "%-8s %s: %s\n         why: %s\n         way out: %s\n\n",
			strings.ToUpper(f.Severity.String()), f.Examination, f.Seen, f.Why, f.WayOut); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d examinations; errors: %d, warnings: %d, unknown: %d, notes: %d\n",
		len(r.Examinations), r.Count(doctor.Error), r.Count(doctor.Warning),
		r.Count(doctor.Unknown), r.Count(doctor.Note))
	return err
}
