package report

import (
	"math"
	"strings"
	"time"
)

// newCellView lays out a line of the table.
func newCellView(c cell, columns []column) cellView {
	v := cellView{Label: c.label}
	for _, r := range c.runs {
		v.Runs = append(v.Runs, refOf(r))
	}
	if len(c.good()) == 0 {
		v.Why = cut(clean(c.runs[0].why()), maxText)
		return v
	}
	for _, col := range columns {
		f := figure{Median: c.figure(col)}
		if m, w, ok := strings.Cut(f.Median, " ("); ok {
			f.Median, f.Worst = m, strings.TrimSuffix(w, ")")
		}
		if median, _, ok := c.middle(col); ok && col.name == outage.name {
			f.Bar = percent(barWidth(time.Duration(median)))
		}
		v.Figures = append(v.Figures, f)
	}
	return v
}

// why says why the run is in no figure.
func (n numbered) why() string {
	if n.LeftOut != "" {
		return n.LeftOut
	}
	return strings.Join(n.void, "; ")
}

// The bars of the felt outage are logarithmic, from 10 ms to 100 s.
const (
	barLeast   = 10 * time.Millisecond
	barDecades = 4
)

// barWidth is the width of an outage's bar in percent.
func barWidth(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return min(max(math.Log10(float64(d)/float64(barLeast))/barDecades*100, 2), 100)
}

// refOf leads to a run.
func refOf(r numbered) ref {
	switch {
	case r.LeftOut != "":
		return ref{r.number, "left out"}
	case !r.counts():
		return ref{r.number, "void"}
	}
	return ref{r.number, ""}
}
