package main

import (
	"github.com/spf13/cobra"

	"recuse/lab"
	"recuse/lab/topology"
)

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
	c.Flags().StringVar(&o.Recuse, "recuse", beside("recuse"), "the agent's binary")
	c.Flags().StringVar(&o.Router, "router", topology.FRR, "the router: frr or bird")
	return c
}
