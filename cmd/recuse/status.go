package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"recuse/agent/config"
	"recuse/agent/control"
)

// Exit codes of `recuse status`.
const (
	exitNotAnnounced = 3
	exitNoDaemon     = 4
)

// askWithin bounds a question to the agent.
const askWithin = 5 * time.Second

// watchEvery is how often `status --watch` looks again.
const watchEvery = time.Second

// statusCommand shows what the agent knows.
func statusCommand() *cobra.Command {
	var t target
	var asJSON, watch bool
	c := &cobra.Command{
		Use:   "status",
		Short: "show services, checks, links and peers",
		Long: "Show what the running agent knows. Exit code 0: every service " +
			"is announced; 3: some are not; 4: no agent is running; 1: one " +
			"runs, but cannot be asked (no permission), or does not answer.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if watch {
				return watchStatus(c, t.client(), asJSON)
			}
			return showStatus(c, t.client(), asJSON)
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&watch, "watch", false, "print it again every second")
	return c
}

// watchStatus prints until it is interrupted, also while no agent runs.
func watchStatus(c *cobra.Command, client *control.Client, asJSON bool) error {
	ctx := interruptible(c)
	for {
		if !asJSON {
			fmt.Fprint(c.OutOrStdout(), "\033[H\033[2J") // home, clear
		}
		err := showStatus(c, client, asJSON)
		var quiet exitCode
		if err != nil && !errors.As(err, &quiet) {
			fmt.Fprintln(c.ErrOrStderr(), "recuse:", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// socketPath is the socket that was named, or the configuration's, or the
// default where the configuration cannot be read: status must work for those
// who may use the socket and not read the file, and while the file is wrong.
func socketPath(path, socket string) string {
	if socket != "" {
		return socket
	}
	return config.Socket(path)
}

// showStatus asks, prints, and chooses the exit code.
func showStatus(c *cobra.Command, client *control.Client, asJSON bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	st, err := client.Status(ctx)
	if err != nil {
		return noDaemon(err)
	}
	if asJSON {
		err = printJSON(c.OutOrStdout(), st)
	} else {
		err = printStatus(c.OutOrStdout(), st)
	}
	if err != nil {
		return err
	}
	for _, s := range st.Services {
		if s.Stance != "announced" {
			return exitCode(exitNotAnnounced)
		}
	}
	return nil
}

// printStatus writes the state for people.
func printStatus(w io.Writer, st control.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "node %s\trouter-id %s\tversion %s\n", st.Node,
		or(st.RouterID, "unknown yet"), st.Version)
	for _, a := range st.Alarms {
		fmt.Fprintf(t, "ALARM: %s\n", a)
	}
	for _, s := range st.Services {
		printService(t, s)
	}
	for _, p := range st.Peers {
		fmt.Fprintf(t, "\npeer %s\tAS %d\t%s for %s\t%s\n", p.Address, p.ASN,
			p.State, since(p.Since), p.Error)
		if p.Unmarked {
			fmt.Fprintln(t, "  sends routes without a node's mark: others are unknown")
		}
		if b := p.BFD; b != nil {
			fmt.Fprintf(t, "  bfd\t%s for %s\tdetects in %.0f ms, worst late "+
				"%.1f ms, %s\t%s\n", b.State, since(b.Since), b.DetectMS,
				b.WorstLateMS, b.Scheduling, b.Error)
		}
	}
	return t.Flush()
}

// printService writes one service.
func printService(w io.Writer, s control.Service) {
	fmt.Fprintf(w, "\nservice %s\t%s\tlevel %s\tfor %s\n", s.Name,
		strings.ToUpper(s.Stance), s.Level, since(s.Since))
	fmt.Fprintf(w, "  %s\n", s.Reason)
	state := "down"
	if s.Link.Up {
		state = "up"
	}
	fmt.Fprintf(w, "  link %s\t%s\t%s\t%s\n", s.Link.Name, s.Link.Kind, state,
		s.Link.Error)
	if len(s.Others) > 0 || s.OthersKnown != "" {
		fmt.Fprintf(w, "  others %s\t%s\n", s.OthersKnown,
			strings.Join(s.Others, " "))
	}
	for _, a := range s.Addresses {
		fmt.Fprintf(w, "  address %s\t%s\t%s\n", a.Prefix,
			pick(a.Present, "on the link", "not on the link"),
			pick(a.Announced, "announced", "not announced"))
	}
	for _, c := range s.Checks {
		fmt.Fprintf(w, "  check %s\t%s\t%s\tp50 %.1f ms, p95 %.1f, p99 %.1f "+
			"of %d\t%s\n", c.Name, c.Level, outcome(c.Last), c.P50MS, c.P95MS,
			c.P99MS, c.Samples, c.Reason)
	}
}

// outcome is what the last probe saw.
func outcome(r *control.Result) string {
	if r == nil {
		return "no result yet"
	}
	text := fmt.Sprintf("%s in %.1f ms", r.Outcome, r.RTTMS)
	if r.Expires != nil {
		text += fmt.Sprintf(", certificate good for %d days",
			int(time.Until(*r.Expires).Hours()/24))
	}
	return text
}

// since is the time that has gone since a moment.
func since(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return time.Since(t).Round(time.Second).String()
}

// or gives a word for an empty string.
func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// pick chooses one of two words.
func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
