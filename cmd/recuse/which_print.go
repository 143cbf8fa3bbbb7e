package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"recuse/probe/dnsx/catchment"
)

// printCatchment writes a table of the nodes and what is to be said of it.
func printCatchment(w io.Writer, r catchment.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if r.Answered() > 0 {
		fmt.Fprintln(t, "node\tanswers\tshare\tmedian\tknown by")
	}
	for _, n := range r.Nodes {
		fmt.Fprintf(t, "%s\t%d\t%.1f %%\t%.1f ms\t%s\n", n.Name, n.Answers, 100*n.Share, n.MedianMS, n.By)
	}
	if n := r.Unidentified.Count; n > 0 {
		fmt.Fprintf(t, "(unknown)\t%d\t%.1f %%\t\t%s\n", n, 100*float64(n)/float64(r.Answered()), reasons(r.Unidentified))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range remarks(r) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// remarks are what the numbers mean, a line each.
func remarks(r catchment.Report) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.Unanswered.Count > 0 {
		say("%d of %d source ports got no answer: %s", r.Unanswered.Count, r.Asked, reasons(r.Unanswered))
	}
	switch {
	case len(r.Nodes) > 1 && r.Unidentified.Count == 0:
		share, swing := r.Even()
		say("Even shares of %d nodes are %.1f %% each; chance alone moves one by up to %.1f points (95 of 100 times).",
			len(r.Nodes), 100*share, 100*swing)
	case len(r.Nodes) == 1 && r.Answered() > 1 && r.Unidentified.Count == 0:
		say("One node: no other serves this client, or the routers choose by the addresses, not by the ports.")
	case r.Unidentified.Count > 0:
		say("Unknown are answers that do not say which node they are from. Give each node an identity " +
			"(unbound: nsid, BIND: server-id), or a name that it answers with a value of its own, for --name.")
	}
	if r.Repeated > 0 {
		say("%d source ports were asked twice; %d of them met two nodes.", r.Repeated, r.Moved)
	}
	if r.Moved > 0 {
		say("Routes changed just then, or packets are balanced one by one, which breaks TCP, " +
			"or one node is several servers.")
	}
	if r.Ended != "" {
		say("Ended after %d source ports: %s.", r.Asked, endings[r.Ended])
	}
	return lines
}

// endings say for people why a survey ended early.
var endings = map[string]string{
	catchment.Interrupted: "interrupted",
	catchment.NoIdentity:  "no answer says which node it is from",
	catchment.Unreachable: "every question was refused or could not be sent",
}

// reasons says why, the most frequent first.
func reasons(r catchment.Rest) string {
	keys := slices.SortedFunc(maps.Keys(r.Reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Reasons[b], r.Reasons[a]), cmp.Compare(a, b))
	})
	if len(keys) == 1 {
		return keys[0]
	}
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%d %s", r.Reasons[k], k)
	}
	return strings.Join(keys, "; ")
}
