package report

import (
	"fmt"
	"slices"
	"time"

	"recuse/lab/load"
)

// column is one figure of the table.
type column struct {
	name, help string
	of         func(load.Figures) int64
	spell      func(int64) string
	// quiet columns are shown only if some run has something in them.
	quiet bool
}

// count and span make columns of counts and of durations.
func count(name, help string, of func(load.Figures) int) column {
	return column{name, help, func(f load.Figures) int64 { return int64(of(f)) },
		func(v int64) string { return number(int(v)) }, false}
}

func span(name, help string, of func(load.Figures) time.Duration) column {
	return column{name, help, func(f load.Figures) int64 { return int64(of(f)) },
		func(v int64) string { return seconds(time.Duration(v)) }, false}
}

// quiet makes a column quiet.
func quiet(c column) column {
	c.quiet = true
	return c
}

// columns are all of them; their help is the report's list of words.
var columns = []column{
	count("asked", "questions that the clients asked", func(f load.Figures) int { return f.Asked }),
	count("lost", "questions that got no answer before the client gave up", func(f load.Figures) int { return f.Lost }),
	quiet(count("bad", "questions answered with SERVFAIL or REFUSED", func(f load.Figures) int { return f.Bad })),
	count("stalled", fmt.Sprintf("questions answered well, but more than %g s after the client meant to ask", load.StalledAfter.Seconds()),
		func(f load.Figures) int { return f.Stalled }),
	outage,
	span("worst gap", "the longest time between two questions of one client that went well", func(f load.Figures) time.Duration { return f.WorstGap }),
	quiet(count("moved", "answers that came from another node than before, though that node was up", func(f load.Figures) int { return f.Moved })),
	quiet(count("resets", "TCP connections that broke under the client", func(f load.Figures) int { return f.Resets })),
}

// outage is the figure that matters most.
var outage = span("felt outage", "the time during which at least one question of the client that was hurt worst was failing: lost, bad or stalled",
	func(f load.Figures) time.Duration { return f.Outage })

// shown are the columns that have something to say about the runs that count.
func (t table) shown() []column {
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return c.quiet && !slices.ContainsFunc(t.runs, func(r numbered) bool { return r.counts() && c.of(r.Figures) != 0 })
	})
}
