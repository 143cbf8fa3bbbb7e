package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"recuse/lab/result"
)

// table is all runs in the order of the report, and the cells that they make.
type table struct {
	runs   []numbered
	groups []group
	setups int
	legend []meaning
	first  string // what the labels are of: designs, or setups of one
}

// numbered is a run with its number in the report, from 1.
type numbered struct {
	result.Run
	number int
	label  string // of its setup
	void   []string
}

// counts reports whether the run's figures say something.
func (n numbered) counts() bool { return len(n.void) == 0 && n.LeftOut == "" }

// group is the cells of one scenario.
type group struct {
	scenario, title string
	cells           []cell
}

// cell is the runs of one scenario on one setup.
type cell struct {
	label string
	runs  []numbered
}

// meaning says what a label stands for.
type meaning struct{ label, text string }

// newTable orders runs and puts them into cells: scenarios in the order in
// which they were first run, setups by design.
func newTable(runs []result.Run) table {
	label := labels(runs)
	sorted := slices.Clone(runs)
	slices.SortStableFunc(sorted, func(a, b result.Run) int { return a.Started.Compare(b.Started) })
	first := map[string]int{}
	for i, r := range sorted {
		if _, ok := first[r.Scenario]; !ok {
			first[r.Scenario] = i
		}
	}
	slices.SortStableFunc(sorted, func(a, b result.Run) int {
		return cmp.Or(first[a.Scenario]-first[b.Scenario], byDesign(a.Setup, b.Setup, label))
	})
	var t table
	for i, r := range sorted {
		t.add(numbered{Run: r, number: i + 1, label: label[r.Setup], void: voids(r)})
	}
	setups := slices.SortedFunc(maps.Keys(label), func(a, b result.Setup) int { return byDesign(a, b, label) })
	t.setups, t.legend = len(setups), legend(setups, label)
	t.first = "design"
	if len(setups) > 0 && setups[0].Design == setups[len(setups)-1].Design {
		t.first = "setup"
	}
	return t
}

// add puts the next run, in order, into its cell.
func (t *table) add(r numbered) {
	t.runs = append(t.runs, r)
	if n := len(t.groups); n == 0 || t.groups[n-1].scenario != r.Scenario {
		t.groups = append(t.groups, group{scenario: r.Scenario, title: r.Title})
	}
	g := &t.groups[len(t.groups)-1]
	if n := len(g.cells); n == 0 || g.cells[n-1].label != r.label {
		g.cells = append(g.cells, cell{label: r.label})
	}
	c := &g.cells[len(g.cells)-1]
	c.runs = append(c.runs, r)
}

// voids says why a run says nothing: its own word, the generator's, and every
// proof that failed, each once.
func voids(r result.Run) []string {
	if r.LeftOut != "" {
		return nil
	}
	var why []string
	for _, w := range []string{r.Void, r.Figures.Void} {
		if w != "" && !slices.ContainsFunc(why, func(o string) bool { return strings.Contains(o, w) }) {
			why = append(why, w)
		}
	}
	for _, p := range r.Proof {
		if !p.Holds && !slices.ContainsFunc(why, func(o string) bool { return strings.Contains(o, p.Claim) }) {
			why = append(why, fmt.Sprintf("no proof: %s (%s)", p.Claim, p.Evidence))
		}
	}
	return why
}

// good are the cell's runs that count.
func (c cell) good() []numbered {
	return slices.DeleteFunc(slices.Clone(c.runs), func(n numbered) bool { return !n.counts() })
}

// size says how many runs the cell is made of, and how many it is not.
func (c cell) size() string {
	void, out := 0, 0
	for _, r := range c.runs {
		switch {
		case r.LeftOut != "":
			out++
		case !r.counts():
			void++
		}
	}
	good := len(c.runs) - void - out
	var parts []string
	if good > 0 {
		parts = append(parts, number(good))
	}
	if void > 0 {
		parts = append(parts, number(void)+" void")
	}
	if out > 0 {
		parts = append(parts, "left out")
	}
	return strings.Join(parts, ", ")
}

// figure spells a column's median over the runs that count, and the worst in
// brackets where it differs; a dash if no run counts.
func (c cell) figure(col column) string {
	median, worst, ok := c.middle(col)
	switch {
	case !ok:
		return "–"
	case median == worst || col.name == columns[0].name:
		return col.spell(median)
	case col.spell(median) == col.spell(worst):
		return col.spell(median)
	}
	return fmt.Sprintf("%s (%s)", col.spell(median), col.spell(worst))
}

// middle is a column's median and worst over the runs that count. Of an even
// number the median is the lower of the middle two, which really happened.
func (c cell) middle(col column) (median, worst int64, ok bool) {
	var values []int64
	for _, r := range c.good() {
		values = append(values, col.of(r.Figures))
	}
	if len(values) == 0 {
		return 0, 0, false
	}
	slices.Sort(values)
	return values[(len(values)-1)/2], values[len(values)-1], true
}
