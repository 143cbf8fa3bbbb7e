package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"recuse/lab/bench/follow"
)

// Moment is one thing that one party saw.
type Moment struct {
	At   time.Time
	Who  string // the party whose evidence it is
	What string
}

// Timeline is what happened, in time order.
type Timeline []Moment

// Add puts a moment in. The lists are short, so order is made when printing.
func (t *Timeline) Add(at time.Time, who, format string, args ...any) {
	*t = append(*t, Moment{at, who, fmt.Sprintf(format, args...)})
}

// Print writes the moments in order, with the time since zero.
func (t Timeline) Print(w io.Writer, zero time.Time) {
	sorted := slices.Clone(t)
	slices.SortStableFunc(sorted, func(a, b Moment) int {
		return a.At.Compare(b.At)
	})
	width := len(slices.MaxFunc(append(sorted, Moment{}), func(a, b Moment) int {
		return cmp.Compare(len(a.Who), len(b.Who))
	}).Who)
	for _, m := range sorted {
		fmt.Fprintf(w, "  %+9.3f s  %-*s  %s\n", m.At.Sub(zero).Seconds(), width,
			m.Who, m.What)
	}
}

// AddAgent puts in what a node's agent logged after a moment: the changes of
// its checks and of its service.
func (t *Timeline) AddAgent(node, log string, after time.Time) {
	for line := range strings.Lines(log) {
		var l follow.Line
		if json.Unmarshal([]byte(line), &l) != nil || l.Time.Before(after) {
			continue
		}
		switch l.Message {
		case "check changed":
			t.Add(l.Time, node+" agent", "check %s: %s -> %s (%s)", l.Check,
				l.From, l.To, l.Reason)
		case "service changed":
			t.Add(l.Time, node+" agent", "%s -> %s, %s: %s", l.From, l.To,
				l.Stance, strings.TrimSpace(l.Reason+" "+l.Detail))
		}
	}
}
