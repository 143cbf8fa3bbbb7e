package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"recuse/agent"
	"recuse/agent/config"
)

// budgetCommand works out the worst cases of a configuration.
func budgetCommand() *cobra.Command {
	var path string
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "budget",
		Short: "the worst case for every kind of failure, term by term",
		Long: "Work out from the configuration how long it may take, at worst, " +
			"from each kind of failure to the message that moves the traffic, " +
			"and beside it how long clients would stay if a DNS record of this " +
			"TTL had to be changed at that moment instead. The time of the " +
			"machines themselves is not in it: some milliseconds here, and at " +
			"the router what it takes to change its routes (FRR 8.4: about " +
			"61 ms; BIRD 2.0: about 3 ms).",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if ttl < 0 {
				return fmt.Errorf("%w: --ttl: %q: must not be below 0", errUsage,
					ttl)
			}
			conf, err := load(path)
			if err != nil {
				return err
			}
			return printBudget(c.OutOrStdout(), conf, ttl)
		},
	}
	configFlag(c, &path)
	c.Flags().DurationVar(&ttl, "ttl", time.Minute,
		"TTL of the DNS record to compare with")
	return c
}

// printBudget writes a table for each check and each peer.
func printBudget(w io.Writer, c *config.Config, ttl time.Duration) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	section := func(format string, args ...any) {
		fmt.Fprintf(t, format+"\n", args...)
		fmt.Fprintf(t, "  failure\tat worst\tby DNS, TTL %s\tterms\n", ttl)
	}
	for _, s := range c.Services {
		for i, check := range s.Checks {
			section("service %s, check %s", s.Name, check.Name)
			printCases(t, agent.CasesOf(s, i), ttl)
			fmt.Fprintln(t)
		}
	}
	for _, p := range c.BGP.Peers {
		section("node, towards %s", p.Address)
		printCases(t, agent.CasesOfNode(p), ttl)
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "To each comes the router's own time: FRR 8.4 about 61ms, "+
		"BIRD 2.0 about 3ms.")
	return t.Flush()
}

// printCases writes a line for each.
func printCases(w io.Writer, list []agent.Case, ttl time.Duration) {
	for _, c := range list {
		terms := c.Bound.String()
		if c.Note != "" && terms != "" {
			terms += "; "
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", c.Failure, c.Bound.Sum(),
			c.Felt(ttl), terms+c.Note)
	}
}
