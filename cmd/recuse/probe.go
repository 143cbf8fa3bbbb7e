package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"recuse/agent"
	"recuse/probe"
)

// exitProbeFailed says that some probe did not pass.
const exitProbeFailed = 3

// probeCommand runs the checks without a daemon.
func probeCommand() *cobra.Command {
	var path string
	var count int
	c := &cobra.Command{
		Use:   "probe",
		Short: "run the checks without a daemon, and print what each saw",
		Long: "Ask every check of the configuration, at its interval, and print " +
			"what each probe saw. Nothing is announced and no link is touched. " +
			"The service path is asked on the service addresses that are on this " +
			"box now. Exit code 0: every probe passed; 3: some did not (checks " +
			"with failure: info left out).",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if count < 1 {
				return fmt.Errorf("%w: --count: %d: must be 1 or more", errUsage,
					count)
			}
			return probeAll(c, path, count)
		},
	}
	configFlag(c, &path)
	c.Flags().IntVarP(&count, "count", "n", 1, "how often each check is asked")
	return c
}

// probeAll asks, prints, and chooses the exit code.
func probeAll(c *cobra.Command, path string, count int) error {
	conf, err := load(path)
	if err != nil {
		return err
	}
	var sum sums
	ctx := interruptible(c)
	if err := agent.ProbeAll(ctx, conf, count, func(s agent.Sample) {
		printSample(c.OutOrStdout(), s)
		sum.add(s)
	}); err != nil {
		return err
	}
	if count > 1 {
		sum.print(c.OutOrStdout())
	}
	if sum.failed || ctx.Err() != nil && len(sum.list) == 0 {
		return exitCode(exitProbeFailed)
	}
	return nil
}

// printSample writes one line for one probe.
func printSample(w io.Writer, s agent.Sample) {
	text := fmt.Sprintf("%s  %s  %-7s  %s in %.1f ms", s.Service, s.Check,
		s.Result.Cause, or(s.Result.Outcome, "-"), inMS(s.Result.RTT()))
	for _, more := range []string{s.Result.Note(), s.Life} {
		if more != "" {
			text += ", " + more
		}
	}
	fmt.Fprintln(w, text)
}

// sums are what all probes of each check saw together.
type sums struct {
	list   []*checkSum
	failed bool
}

// checkSum is the sum of one check.
type checkSum struct {
	service, check string
	passed, all    int
	took           []time.Duration // of those that passed
}

// add takes a sample in.
func (s *sums) add(x agent.Sample) {
	i := slices.IndexFunc(s.list, func(c *checkSum) bool {
		return c.service == x.Service && c.check == x.Check
	})
	if i < 0 {
		i = len(s.list)
		s.list = append(s.list, &checkSum{service: x.Service, check: x.Check})
	}
	c := s.list[i]
	c.all++
	if x.Result.Cause == probe.Passed {
		c.passed++
		c.took = append(c.took, x.Result.RTT())
	} else if !x.Info {
		s.failed = true
	}
}

// print writes a line for each check.
func (s *sums) print(w io.Writer) {
	fmt.Fprintln(w)
	for _, c := range s.list {
		fmt.Fprintf(w, "%s  %s  %d of %d passed", c.service, c.check, c.passed,
			c.all)
		if n := len(c.took); n > 0 {
			slices.Sort(c.took)
			fmt.Fprintf(w, "; median %.1f ms, worst %.1f ms", inMS(c.took[n/2]),
				inMS(c.took[n-1]))
		}
		fmt.Fprintln(w)
	}
}

// inMS gives a duration in milliseconds.
func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
