package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"recuse/lab/result"
)

// Markdown writes the whole report for a terminal: the table, what its words
// mean, what every run noted, and what is not in the table and why.
func Markdown(w io.Writer, runs []result.Run) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintln(w, "No runs.")
		return err
	}
	t := newTable(runs)
	var b strings.Builder
	b.WriteString(t.markdown())
	b.WriteString("\n" + t.words())
	t.section(&b, "Void: not in the table", func(r numbered) []string { return r.void })
	t.section(&b, "Left out", func(r numbered) []string { return some(r.LeftOut) })
	t.section(&b, "Notes", func(r numbered) []string {
		if r.LeftOut != "" {
			return nil
		}
		return r.Notes
	})
	_, err := io.WriteString(w, b.String())
	return err
}

// Table writes the table alone, with its date and the machine, for a README.
func Table(w io.Writer, runs []result.Run) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintln(w, "No runs.")
		return err
	}
	t := newTable(runs)
	_, err := io.WriteString(w, t.markdown())
	return err
}

// markdown is the table, what its labels stand for, and where it was made.
func (t table) markdown() string {
	shown := t.shown()
	head := []string{"scenario", t.first, "runs"}
	for _, c := range shown {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	for _, g := range t.groups {
		name := plain(g.scenario)
		for _, c := range g.cells {
			row := []string{name, plain(c.label), c.size()}
			for _, col := range shown {
				row = append(row, c.figure(col))
			}
			rows, name = append(rows, row), ""
		}
	}
	var b strings.Builder
	grid(&b, rows)
	b.WriteString("\nMedian of a cell's runs, in brackets the worst where it differs.\n\n")
	for _, m := range t.legend {
		fmt.Fprintf(&b, "* %s: %s\n", plain(m.label), plain(m.text))
	}
	b.WriteString("\n")
	for _, m := range t.machines() {
		fmt.Fprintf(&b, "%s\n", plain(m.line()))
	}
	return b.String()
}

// grid writes rows as a table of Markdown whose columns also line up as text;
// all but the first three hold numbers.
func grid(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, s := range row {
			width[i] = max(width[i], utf8.RuneCountInString(s), 3)
		}
	}
	line := func(row []string) {
		for i, s := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if i < textColumns {
				b.WriteString("| " + s + pad + " ")
			} else {
				b.WriteString("| " + pad + s + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(rows[0])
	for i, n := range width {
		if i < textColumns {
			b.WriteString("| " + strings.Repeat("-", n) + " ")
		} else {
			b.WriteString("| " + strings.Repeat("-", n-1) + ": ")
		}
	}
	b.WriteString("|\n")
	for _, row := range rows[1:] {
		line(row)
	}
}

// textColumns are the table's first columns, which hold words.
const textColumns = 3

// words says what the columns mean.
func (t table) words() string {
	var b strings.Builder
	for _, c := range t.shown() {
		fmt.Fprintf(&b, "* %s: %s\n", c.name, c.help)
	}
	return b.String()
}

// section lists what every run has to say on one matter, if any has.
func (t table) section(b *strings.Builder, title string, of func(numbered) []string) {
	if !slices.ContainsFunc(t.runs, func(r numbered) bool { return len(of(r)) > 0 }) {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, r := range t.runs {
		texts := of(r)
		if len(texts) == 0 {
			continue
		}
		fmt.Fprintf(b, "* %d. %s, %s:", r.number, plain(r.Scenario), plain(r.label))
		if len(texts) == 1 {
			fmt.Fprintf(b, " %s\n", plain(texts[0]))
			continue
		}
		b.WriteString("\n")
		for _, s := range texts {
			fmt.Fprintf(b, "  * %s\n", plain(s))
		}
	}
}

// some is a list of the text, or of nothing if it is empty.
func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// day spells a date, the same everywhere.
func day(t time.Time) string { return t.UTC().Format("2006-01-02") }
