package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"recuse/agent/control"
)

// target is where a command finds the agent.
type target struct{ config, socket string }

// flags adds what names the target.
func (t *target) flags(c *cobra.Command) {
	configFlag(c, &t.config)
	c.Flags().StringVar(&t.socket, "socket", "",
		"control socket (default: the configuration's)")
}

// client makes a client for the target.
func (t *target) client() *control.Client {
	return control.NewClient(socketPath(t.config, t.socket))
}

// oneService wants exactly the name of a service.
func oneService(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%w: %s takes the name of one service", errUsage,
			c.Name())
	}
	return nil
}

// drainCommand takes a service out by an operator's wish.
func drainCommand() *cobra.Command {
	var t target
	var d control.Drain
	var span time.Duration
	c := &cobra.Command{
		Use:   "drain SERVICE",
		Short: "take a service out of the routing, and wait until it is out",
		Long: "Make the node second choice, wait until other nodes are seen to " +
			"serve, then withdraw and set the link down. Without others it " +
			"fails and leaves things as they were, unless forced. A drain " +
			"outlives a restart of the agent.",
		Args: oneService,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("for") && span <= 0 {
				return fmt.Errorf("%w: --for: %q: must be above 0, such as 30m",
					errUsage, span)
			}
			d.Service, d.For = args[0], control.Duration(span)
			if err := noDaemon(t.client().Drain(interruptible(c), d)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s is out of the routing\n",
				d.Service)
			return err
		},
	}
	t.flags(c)
	c.Flags().DurationVar(&span, "for", 0,
		"take the drain back after this time, such as 30m")
	c.Flags().StringVar(&d.Reason, "reason", "", "for status and log")
	c.Flags().BoolVar(&d.Force, "force", false,
		"drain even if no other node is seen to serve")
	return c
}

// undrainCommand takes a drain back.
func undrainCommand() *cobra.Command {
	return simple("undrain SERVICE", "take a drain back",
		(*control.Client).Undrain)
}

// resumeCommand ends a hold.
func resumeCommand() *cobra.Command {
	return simple("resume SERVICE", "end a hold, with failback: manual too",
		(*control.Client).Resume)
}

// simple is a command that names a service and has nothing to show.
func simple(use, short string, f func(*control.Client, context.Context,
	string) error) *cobra.Command {
	var t target
	c := &cobra.Command{Use: use, Short: short, Args: oneService,
		RunE: func(c *cobra.Command, args []string) error {
			return noDaemon(f(t.client(), interruptible(c), args[0]))
		}}
	t.flags(c)
	return c
}

// noDaemon gives the exit code for a missing agent to an error that says so.
func noDaemon(err error) error {
	if errors.Is(err, control.ErrNoDaemon) {
		return coded{exitNoDaemon, err}
	}
	return err
}

// interruptible is a context that ends with SIGINT.
func interruptible(c *cobra.Command) context.Context {
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT,
		syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// eventsCommand shows the decisions.
func eventsCommand() *cobra.Command {
	var t target
	var follow, asJSON bool
	c := &cobra.Command{
		Use:   "events",
		Short: "show the decisions, each with its evidence",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			show := func(e control.Event) error {
				return printEvent(c.OutOrStdout(), e)
			}
			if asJSON {
				out := json.NewEncoder(c.OutOrStdout())
				show = func(e control.Event) error { return out.Encode(e) }
			}
			return noDaemon(t.client().Events(interruptible(c), follow, show))
		},
	}
	t.flags(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on as they come")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

// printEvent writes one decision for people.
func printEvent(w io.Writer, e control.Event) error {
	_, err := fmt.Fprintf(w, "%s  %s  %s -> %s  %s  %s: %s  (others: %s)\n",
		e.At.Format("2006-01-02 15:04:05.000"), e.Service, e.From, e.To,
		e.Stance, e.Reason, or(e.Detail, "-"), e.Others)
	for _, t := range e.Evidence {
		if err == nil {
			_, err = fmt.Fprintf(w, "    %s is %s: %s in %.1f ms, %d failures, "+
				"%d passes in a row\n", t.Check, t.Level, or(t.Outcome, "-"),
				t.RTTMS, t.Failures, t.Passes)
		}
	}
	return err
}
