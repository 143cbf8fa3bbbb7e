package report

import (
	"slices"

	"recuse/lab/load"
	"recuse/lab/result"
)

// Heights within a picture, in pixels. Widths are in percent, so that one
// picture fits a desk and a phone and its text has one size on both.
const (
	phaseRow  = 16
	badgeRow  = 18
	chartRow  = 92
	slowRow   = 34
	nodeRow   = 20
	bandRow   = 14
	rowGap    = 3
	partyGap  = 9
	axisRow   = 20
	leastBand = 0.3 // percent: a shorter one would not be seen
	textBand  = 2.5 // percent: a shorter one has no room for a word
	namePhase = 4.0 // percent: a shorter phase has no room for its name
	oneBadge  = 2.5 // percent: closer actions share a badge
)

// Bounds of the texts beside a picture.
const (
	maxActions = 40
	maxEvents  = 80
	maxText    = 200 // characters
	maxTitle   = 90  // of what a band says under the pointer
	maxState   = 40
	maxLabel   = 14 // of a row's name
	maxNodes   = 16 // rows of nodes that answered
)

// picture is the time line of one run, laid out.
type picture struct {
	Height  int
	Plot    int // height above the axis
	Badge   int // y of the badges
	Bins    int
	Phases  []phase
	Ticks   []tick
	Actions []action
	Badges  []badge
	Chart   chart
	Slow    *row
	Rows    []row
	Legend  []string // outcomes that occur
	Moods   bool     // whether any band needs the legend of moods
	Each    string   // width of a bin
	Desc    string
	Cut     string // questions outside of the picture; "" if there are none
	Hidden  int    // lanes for which there is no room
	Events  []eventLine
	More    int // events not listed
}

// phase is a part of the run, shaded.
type phase struct {
	X, Width, Name string
	Shade          bool
}

// action is what the lab did.
type action struct {
	Number     int
	X          string
	When, Text string
}

// badge is one or more actions' numbers above the chart.
type badge struct{ X, Text string }

// chart is the stack of outcomes.
type chart struct {
	Y, Height int
	Top       string
	Areas     []area
	Hits      []hit
}

// row is a lane or a node's answers.
type row struct {
	Y, Height   int
	Label, Full string
	Area        *area
	Bands       []bandView
	Marks       []markView
}

// bandView is a band, laid out.
type bandView struct {
	X, Width string
	Mood     mood
	Text     string // "" if there is no room
	Title    string
}

// markView is a mark, laid out.
type markView struct{ X, Title string }

// eventLine is one line of the list of events.
type eventLine struct{ When, Lane, State, Text string }

// newPicture reduces a run to its picture.
func newPicture(r result.Run, records []load.Record) picture {
	a := newAxis(r, records)
	b := newBins(a, records)
	p := picture{Bins: a.bins, Ticks: a.ticks(), Each: seconds(a.width), Badge: phaseRow}
	if total(b.cut) > 0 {
		p.Cut = numbers(b.cut)
	}
	p.addPhases(a, r.Phases)
	p.addActions(a, r.Events)
	p.addEvents(a, r.Events)
	y := phaseRow + badgeRow
	p.Chart = chart{Y: y, Height: chartRow, Top: number(b.top()), Areas: b.stack(), Hits: b.hits()}
	y += chartRow + rowGap
	if slow := b.slowArea(); slow.D != "" {
		p.Slow = &row{Y: y, Height: slowRow, Label: "slowest", Area: &slow}
		y += slowRow + rowGap
	}
	found, hidden := lanes(a, r.Events)
	p.Hidden = hidden
	y = p.addRows(a, b, found, y)
	p.Plot = y
	p.Height = y + axisRow
	for _, ar := range p.Chart.Areas {
		p.Legend = append(p.Legend, ar.Class)
	}
	slices.Reverse(p.Legend)
	p.Desc = p.describe(a, found)
	return p
}
