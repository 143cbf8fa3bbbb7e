package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"recuse/probe/dnsx/catchment"
)

// Exit codes of `recuse which`.
const (
	exitSomeUnknown = 3
	exitNoAnswer    = 4
)

// What `recuse which` may be asked for.
const (
	flowsMax = 10000
	rateMax  = 1000
	waitMin  = 10 * time.Millisecond
	waitMax  = 10 * time.Second
)

// inquest is the command line of `recuse which`.
type inquest struct {
	flows, rate, chaosRate int
	timeout                time.Duration
	source, name, kind     string
	json                   bool
}

// whichCommand asks who answers.
func whichCommand() *cobra.Command {
	var q inquest
	c := &cobra.Command{
		Use:   "which ADDRESS",
		Short: "which nodes answer at an anycast address, and what share each has",
		Long: "Ask the DNS server at ADDRESS from many source ports which node it " +
			"is, and print the share of each. Routers choose the node by the " +
			"flow, so ask from a client, not from a node. No agent and no " +
			"configuration is needed.\n\n" +
			"ADDRESS is an IP address with or without a port: 10.1.9.53, " +
			"10.1.9.53:5353, 2001:db8:9::53, [2001:db8:9::53]:5353. It is asked " +
			"over UDP, or over TCP as tcp://10.1.9.53.\n\n" +
			"A node is known by the EDNS option NSID (RFC 5001), else by " +
			"id.server CH TXT (RFC 4892), else by hostname.bind CH TXT; or by " +
			"--name, a name that each node answers with a value of its own. " +
			"Behind a proxy it is the server's identity, not the proxy's.\n\n" +
			"The default rates are what servers let pass by default: Pi-hole 1,000 " +
			"questions a minute from a client, AdGuard Home 20 a second from a " +
			"/24 or a /56, BIND 3 a second from these in class CH over UDP. Up to " +
			"20 source ports are asked twice, to see whether a flow stays with " +
			"its node. It ends after the first 10 if all are refused, or if no " +
			"answer tells a node.\n\n" +
			"Exit code 0: every source port was answered, by a node that is known; " +
			"3: some were not, or the answer does not say by which node, or the " +
			"survey was interrupted; 4: none was answered; 1: --source is not on " +
			"this box.",
		Args: oneServer,
		RunE: func(c *cobra.Command, args []string) error { return q.run(c, args[0]) },
	}
	c.Flags().IntVarP(&q.flows, "count", "n", 200, "how many source ports ask")
	c.Flags().IntVar(&q.rate, "rate", 10, "questions a second")
	c.Flags().IntVar(&q.chaosRate, "chaos-rate", 3, "questions a second in class CH (id.server, hostname.bind) over UDP")
	c.Flags().DurationVar(&q.timeout, "timeout", 2*time.Second, "wait for each answer")
	c.Flags().StringVar(&q.source, "source", "", "source address (default: the kernel's choice)")
	c.Flags().StringVar(&q.name, "name", "", "ask only for this name, such as identity.lan; {random} in it is\n"+
		"fresh in every question, id.server and hostname.bind are in class CH")
	c.Flags().StringVar(&q.kind, "type", "TXT", "the type of --name")
	c.Flags().BoolVar(&q.json, "json", false, "print JSON")
	return c
}

// oneServer wants exactly one address.
func oneServer(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%w: %s takes the address of one server, such as 10.1.9.53, got %q",
			errUsage, c.Name(), args)
	}
	return nil
}

// run asks, prints, and chooses the exit code.
func (q inquest) run(c *cobra.Command, address string) error {
	conf, err := q.config(c, address)
	if err != nil {
		return err
	}
	if err := onBox(c.Context(), conf.Server.Addr.Addr(), conf.Source); err != nil {
		return err
	}
	announce(c.ErrOrStderr(), conf)
	report := catchment.Run(interruptible(c), conf)
	if err := q.print(c, report); err != nil {
		return err
	}
	switch {
	case report.Answered() == 0:
		return exitCode(exitNoAnswer)
	case report.Unanswered.Count+report.Unidentified.Count > 0, report.Asked < conf.Flows:
		return exitCode(exitSomeUnknown)
	}
	return nil
}

// print writes the report for people or for programs.
func (q inquest) print(c *cobra.Command, r catchment.Report) error {
	if !q.json {
		return printCatchment(c.OutOrStdout(), r)
	}
	return printJSON(c.OutOrStdout(), r)
}
