package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"recuse/lab/topology"
)

// downCommand ends what up raised.
func downCommand() *cobra.Command {
	var pid int
	var all bool
	c := &cobra.Command{
		Use:   "down",
		Short: "take down what `recuse-lab up` raised",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			labs, err := allStanding()
			if err != nil {
				return err
			}
			if !all {
				one, err := oneStanding(pid)
				if err != nil {
					return err
				}
				labs = []standing{one}
			}
			for _, s := range labs {
				if err := s.end(c.Context()); err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "down: the lab of process %d\n", s.PID)
			}
			return nil
		},
	}
	c.Flags().IntVar(&pid, "pid", 0, "process of the lab, if several are up")
	c.Flags().BoolVar(&all, "all", false, "every lab that is up")
	return c
}

// How long a lab may take to go, and how often it is looked at.
const (
	downWithin = 60 * time.Second
	downLook   = 50 * time.Millisecond
)

// end asks the lab's process to end and waits until its lab is gone.
func (s standing) end(ctx context.Context) error {
	if err := syscall.Kill(s.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("failed to end process %d: %w", s.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, downWithin)
	defer cancel()
	tick := time.NewTicker(downLook)
	defer tick.Stop()
	for {
		left, err := topology.NamespacesOf(s.PID)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the lab of process %d is not gone after %s", s.PID, downWithin)
		}
	}
}
