package scenario

import (
	"context"
	"fmt"
	"time"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/result"
)

// slow30 is a gray failure: most answers are good, and some are late.
func slow30() Scenario {
	s := slowNode("slow-30", "3 of 10 answers of a node are 300 ms late",
		authority.Behaviour{Delay: 300 * time.Millisecond, Part: 0.3}, 0.1)
	// The agent is to leave within 15 s in the median (see its checks' slow test).
	s.Fault = Length{90 * time.Second, 25 * time.Second}
	return s
}

// slow200 is a node that is late each time, and well within every client's
// patience.
func slow200() Scenario {
	return slowNode("slow-200ms", "every answer of a node is 200 ms late",
		authority.Behaviour{Delay: 200 * time.Millisecond}, always)
}

// slow1800 is a node that answers just before its clients give up.
func slow1800() Scenario {
	return slowNode("slow-1800ms", "every answer of a node is 1.8 s late",
		authority.Behaviour{Delay: 1800 * time.Millisecond}, always)
}

// always is the share of late answers that shows that all were meant to be: a box
// that stands still for a moment moves some into another phase.
const always = 0.75

// slowNode is one slow node; share is the part of its answers that must be seen
// late.
func slowNode(name, title string, b authority.Behaviour, share float64) Scenario {
	return Scenario{
		Name: name, Title: title,
		Act: func(ctx context.Context, r *Run) error {
			r.Down(r.Node)
			r.Say("%s answers %s", r.Node.Name(), manner(b))
			return r.Node.Answers(ctx, b)
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("%s answers in time again", r.Node.Name())
			return r.Node.Answers(ctx, authority.Behaviour{})
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.late(r.Node, b.Delay, share)}
		},
	}
}

// allSlow is what all nodes share: an upstream or a network that is slow.
// Nobody is better, so nobody should leave.
func allSlow() Scenario {
	b := authority.Behaviour{Delay: 200 * time.Millisecond}
	return Scenario{
		Name: "all-slow", Title: "every answer of every node is 200 ms late",
		Act: func(ctx context.Context, r *Run) error {
			r.Say("all nodes answer %s", manner(b))
			return r.each(func(n bench.Node) error { return n.Answers(ctx, b) })
		},
		Undo: func(ctx context.Context, r *Run) error {
			r.Say("all nodes answer in time again")
			return r.each(func(n bench.Node) error { return n.Answers(ctx, authority.Behaviour{}) })
		},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.late(r.Node, b.Delay, always)}
		},
	}
}

// manner says how late answers come.
func manner(b authority.Behaviour) string {
	if b.Part > 0 {
		return fmt.Sprintf("%s late, %.0f %% of the time", b.Delay, 100*b.Part)
	}
	return b.Delay.String() + " late"
}
