package lab

import (
	"errors"
	"fmt"
	"time"

	"recuse/lab/load"
)

// report prints what everybody saw and the verdict, which is an error if the
// run proves nothing.
func (d *demo) report() error {
	var t Timeline
	name := d.victim.ShortName
	t.Add(d.killed, "lab", "resolver of %s killed", name)
	t.Add(d.restarted, "lab", "resolver of %s started again", name)
	t.AddAgent(name, d.victim.Agent.Log(), d.killed)
	for _, e := range d.events {
		t.Add(e.At, "router kernel", "%s has %d next hops: %v", e.Prefix,
			len(e.NextHops), e.NextHops)
	}
	f := load.Summarize(d.records)
	if f.Lost > 0 {
		t.Add(f.FirstLost, "client", "the first question that was lost")
		t.Add(f.LastLost, "client", "the last question that was lost")
	}
	fmt.Fprintf(d.out, "\nWhat happened, in seconds from the fault:\n")
	t.Print(d.out, d.killed)
	fmt.Fprintf(d.out, "\nThe client asked %d questions: %d lost, %d answered "+
		"with a failure, longest time without a good answer %s, p50 %s, "+
		"p99 %s.\nAnswers by node: %s.\n\n", f.Asked, f.Lost, f.Bad,
		load.Brief(f.WorstGap), load.Brief(f.P50), load.Brief(f.P99), words(f.Nodes))
	if f.Void != "" {
		fmt.Fprintf(d.out, "Note: this box was busy, and the questions left up "+
			"to %s late (p99 %s): take the client's figures as a bound.\n\n",
			load.Brief(f.LateMax), load.Brief(f.LateP99))
	}
	return d.verdict(f)
}

// verdict says it in a line, or why the run proves nothing.
func (d *demo) verdict(f load.Figures) error {
	name := d.victim.ShortName
	switch {
	case d.calm[name] == 0:
		return errors.New("VOID: the node that was broken served nobody")
	case d.answeredBy(name, d.left, d.restarted) > 0:
		return fmt.Errorf("VOID: %s answered while its resolver was dead", name)
	case d.answeredBy(name, d.back, time.Time{}) == 0:
		return fmt.Errorf("FAILED: %s came back and served nobody", name)
	}
	fmt.Fprintf(d.out, "OK: %s left the router %s after its resolver was killed "+
		"and was back %s after it started; %d of %d questions lost.\n", name,
		load.Brief(d.left.Sub(d.killed)), load.Brief(d.back.Sub(d.restarted)), f.Lost,
		f.Asked)
	return nil
}

// answeredBy counts a node's answers to questions meant to be asked between
// two moments; a zero end is the end of the run.
func (d *demo) answeredBy(node string, from, to time.Time) int {
	n := 0
	for _, r := range d.records {
		if r.Node == node && r.Intended.After(from) &&
			(to.IsZero() || r.Intended.Before(to)) {
			n++
		}
	}
	return n
}
