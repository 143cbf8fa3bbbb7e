package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"recuse/lab/quest"
)

// reverseCommand is the quest for the time of a lease table's reverse lookups.
func reverseCommand() *cobra.Command {
	q := questFlags{look: func(ctx context.Context, o quest.Options) (table, error) { return quest.Reverse(ctx, o) }}
	c := &cobra.Command{
		Use:   "reverse",
		Short: "how long the reverse lookups of a lease table take, by resolver, cold and warm",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return q.run(c) },
	}
	q.flags(c)
	c.Flags().IntVar(&q.Leases, "leases", 200, "size of the lease table")
	c.Flags().DurationVar(&q.Delay, "delay", 0, "what the authority adds to every answer about a lease")
	return c
}

// rampCommand is the quest for the rate that a resolver holds.
func rampCommand() *cobra.Command {
	q := questFlags{look: func(ctx context.Context, o quest.Options) (table, error) { return quest.Ramp(ctx, o) }}
	c := &cobra.Command{
		Use:   "ramp",
		Short: "how many questions a second a resolver holds, and where its limit of the rate is felt",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return q.run(c) },
	}
	q.flags(c)
	f := c.Flags()
	f.IntVar(&q.Limit, "limit", 200, "the limit that is configured where the resolver has one, in questions a second")
	f.BoolVar(&q.Unlimited, "unlimited", false, "only without the limit")
	f.BoolVar(&q.Limited, "limited", false, "only with it")
	f.DurationVar(&q.Hold, "hold", 2*time.Second, "how long a rate is held to be judged")
	f.DurationVar(&q.Slow, "slow", 50*time.Millisecond, "the p99 that a rate must not exceed")
	f.Float64Var(&q.Loss, "loss", 0.001, "the share of questions that may be lost")
	return c
}

// table is the report of a quest.
type table interface{ Markdown() string }

// questFlags are the flags of a quest.
type questFlags struct {
	quest.Options
	authority string
	look      func(context.Context, quest.Options) (table, error)
}

// flags adds what both quests take.
func (q *questFlags) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&q.Resolvers, "resolver", nil, "resolvers, with commas between them: "+join(quest.Resolvers())+" (default all)")
	c.Flags().StringVar(&q.authority, "authority", beside("recuse-authority"), "the authority's binary")
}

// run goes on the quest and prints its table.
func (q *questFlags) run(c *cobra.Command) error {
	for _, r := range q.Resolvers {
		if err := known("resolver", r, quest.Resolvers()); err != nil {
			return err
		}
	}
	q.Authority = []string{q.authority}
	start := time.Now()
	q.Progress = func(line string) {
		fmt.Fprintf(c.ErrOrStderr(), "%7.1fs  %s\n", time.Since(start).Seconds(), line)
	}
	report, err := q.look(c.Context(), q.Options)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.OutOrStdout(), report.Markdown())
	return err
}
