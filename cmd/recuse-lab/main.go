// Command recuse-lab raises the lab and breaks things in it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"recuse/lab"
	"recuse/lab/topology"
)

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns the exit code. SIGINT and SIGTERM
// end what runs, and the lab is cleaned up.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT,
		syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "recuse-lab", SilenceErrors: true,
		Short:        "raise the lab and break things in it",
		SilenceUsage: true}
	root.AddCommand(demoCommand())
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "recuse-lab:", err)
		return 1
	}
	return 0
}

// demoCommand kills one resolver of three and tells what was felt.
func demoCommand() *cobra.Command {
	var o lab.DemoOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "kill one resolver of three and tell what a client felt",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := topology.Missing(o.Router); err != nil {
				return err
			}
			o.Out = c.OutOrStdout()
			return lab.Demo(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.Recuse, "recuse", "bin/recuse", "the agent's binary")
	c.Flags().StringVar(&o.Router, "router", topology.FRR,
		"the router: frr or bird")
	return c
}
