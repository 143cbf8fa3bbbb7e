package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"recuse/lab/scenario"
)

// listCommand prints the scenarios.
func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "print the scenarios, each with what goes wrong in it",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			width := 0
			for _, name := range scenario.Names() {
				width = max(width, len(name))
			}
			for _, s := range scenario.All() {
				if _, err := fmt.Fprintf(c.OutOrStdout(), "%-*s  %s\n", width, s.Name, s.Title); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
