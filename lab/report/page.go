package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"recuse/lab/load"
	"recuse/lab/result"
)

// files are the page's parts: its frame, a run, a time line, and the style.
//
//go:embed page/*
var files embed.FS

// parts are the templates; they are the program's own, so they cannot fail.
var parts = template.Must(template.New("").Funcs(template.FuncMap{
	"add":  func(a, b int) int { return a + b },
	"pair": func(n int, p *picture) drawn { return drawn{n, p} },
}).ParseFS(files, "page/*.html"))

// drawn is a picture with the number of its run, which makes its ids unique.
type drawn struct {
	Number  int
	Picture *picture
}

// page is everything on it.
type page struct {
	Style   template.CSS
	Title   string
	Summary string
	First   string
	Columns []column
	Groups  []groupView
	Legend  []meaning
	Words   []meaning
	Boxes   []boxView
	Out     []refusal
	Void    []refusal
	Runs    []runView
}

// groupView is a scenario in the table.
type groupView struct {
	Scenario, Title string
	Cells           []cellView
}

// cellView is a line of the table.
type cellView struct {
	Label   string
	Runs    []ref
	Figures []figure
	Why     string // why no run counts, in place of the figures
}

// ref leads to a run.
type ref struct {
	Number int
	Word   string // void, left out, or nothing
}

// figure is a median and, if it differs, the worst. Bar is the width of its bar.
type figure struct{ Median, Worst, Bar string }

// refusal is a run that is not in the table, and why.
type refusal struct {
	ref
	Name, Why string
}

// boxView is a machine.
type boxView struct {
	When, Hardware, System, Kernel string
	Versions                       []string
	Runs                           string
}

// HTML writes the report as one page that needs no other file and no script.
// records gives a run's records, one run at a time, of which only the picture
// is kept: result.Run.Records for runs from a directory. A run whose records
// cannot be had says so in place of its picture.
func HTML(w io.Writer, runs []result.Run, records func(result.Run) ([]load.Record, error)) error {
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return fmt.Errorf("failed to write report: %w", err)
	}
	p := newPage(newTable(runs), records)
	p.Style = template.CSS(style)
	if err := parts.ExecuteTemplate(w, "page.html", p); err != nil {
		return fmt.Errorf("failed to write report: %w", err)
	}
	return nil
}

// newPage lays out the report.
func newPage(t table, records func(result.Run) ([]load.Record, error)) page {
	p := page{Title: "What a client felt", Summary: t.summary(), First: t.first, Columns: t.shown(), Legend: t.legend}
	for _, g := range t.groups {
		v := groupView{Scenario: clean(g.scenario), Title: cut(clean(g.title), maxText)}
		for _, c := range g.cells {
			v.Cells = append(v.Cells, newCellView(c, p.Columns))
		}
		p.Groups = append(p.Groups, v)
	}
	for _, c := range p.Columns {
		p.Words = append(p.Words, meaning{c.name, c.help})
	}
	for _, b := range t.machines() {
		p.Boxes = append(p.Boxes, boxView{b.when(), b.hardware(), clean(b.System), clean(b.Kernel), b.versions(), spans(b.runs)})
	}
	for _, r := range t.runs {
		name := clean(r.Scenario) + ", " + r.label
		if r.LeftOut != "" {
			p.Out = append(p.Out, refusal{refOf(r), name, cut(clean(r.why()), maxText)})
		} else if !r.counts() {
			p.Void = append(p.Void, refusal{refOf(r), name, cut(clean(r.why()), maxText)})
		}
		p.Runs = append(p.Runs, newRunView(r, records))
	}
	return p
}

// summary says in a sentence what the report is made of.
func (t table) summary() string {
	if len(t.runs) == 0 {
		return "There are no runs."
	}
	void, out := 0, 0
	for _, r := range t.runs {
		switch {
		case r.LeftOut != "":
			out++
		case !r.counts():
			void++
		}
	}
	s := fmt.Sprintf("%s of %s on %s", plural(len(t.runs)-out, "run", "runs"), plural(len(t.groups), "scenario", "scenarios"),
		plural(t.setups, "setup", "setups"))
	if void > 0 {
		s += fmt.Sprintf("; %d void, which are in no figure of the table", void)
	}
	if out > 0 {
		s += fmt.Sprintf("; %d more left out", out)
	}
	return s + "."
}

// spans spells numbers in order, neighbours as "2–5".
func spans(n []int) string {
	n = slices.Sorted(slices.Values(n))
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, number(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d–%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// Name and Help are the column's, for the template.
func (c column) Name() string { return c.name }

// Help is what the column means.
func (c column) Help() string { return c.help }

// Label and Text are the meaning's, for the template.
func (m meaning) Label() string { return m.label }

// Text is what the label stands for.
func (m meaning) Text() string { return m.text }
