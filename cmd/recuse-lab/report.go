package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"recuse/lab/report"
	"recuse/lab/result"
)

// pageName is the file of the report in a directory of runs.
const pageName = "report.html"

// reportCommand makes the report of runs that were made.
func reportCommand() *cobra.Command {
	var page string
	var table bool
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "print the report of a directory of runs, and write it as a page",
		Long: `Read every run in a directory and print the report as Markdown; DIR/report.html
is the same as one page, with a time line of each run.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			print := report.Markdown
			if table {
				print = report.Table
			}
			return writeReport(c.OutOrStdout(), args[0], page, print)
		},
	}
	c.Flags().StringVar(&page, "html", "", "the page's file (default DIR/"+pageName+")")
	c.Flags().BoolVar(&table, "table", false, "print the table alone, for a README")
	return c
}

// writeReport prints the report of a directory and writes its page. Runs that
// cannot be read are an error, after the report of the others.
func writeReport(out io.Writer, dir, page string, print func(io.Writer, []result.Run) error) error {
	if page == "" {
		page = filepath.Join(dir, pageName)
	}
	runs, unread := result.Read(dir)
	if len(runs) == 0 {
		if unread == nil {
			unread = fmt.Errorf("failed to read runs: %s holds none: recuse-lab run --out %s makes some", dir, dir)
		}
		return unread
	}
	if err := print(out, runs); err != nil {
		return err
	}
	if err := writePage(page, runs); err != nil {
		return errors.Join(err, unread)
	}
	fmt.Fprintf(out, "\nThe time lines: %s\n", page)
	return unread
}

// writePage writes the page, whole or not at all.
func writePage(page string, runs []result.Run) error {
	f, err := os.CreateTemp(filepath.Dir(page), ".report-*")
	if err != nil {
		return fmt.Errorf("failed to write report: %w", err)
	}
	defer os.Remove(f.Name())
	err = errors.Join(report.HTML(f, runs, result.Run.Records), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), page)
}
