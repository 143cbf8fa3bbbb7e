package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
)

// box is a machine and the runs that were made on it.
type box struct {
	result.Machine
	runs        []int // their numbers
	programs    map[string][]version
	first, last time.Time
}

// version is a version of a program, and the runs in which it took part.
type version struct {
	text string
	runs []int
}

// machines are the boxes of all runs, each once, whatever programs took part.
func (t table) machines() []box {
	var all []box
	for _, r := range t.runs {
		i := slices.IndexFunc(all, func(b box) bool { return same(b.Machine, r.Machine) })
		if i < 0 {
			i = len(all)
			all = append(all, box{Machine: r.Machine, first: r.Started, last: r.Started, programs: map[string][]version{}})
		}
		all[i].add(r)
	}
	return all
}

// add counts a run in.
func (b *box) add(r numbered) {
	b.runs = append(b.runs, r.number)
	if r.Started.Before(b.first) {
		b.first = r.Started
	}
	b.last = latest(b.last, r.Started)
	for name, text := range r.Machine.Versions {
		i := slices.IndexFunc(b.programs[name], func(v version) bool { return v.text == text })
		if i < 0 {
			i = len(b.programs[name])
			b.programs[name] = append(b.programs[name], version{text: text})
		}
		b.programs[name][i].runs = append(b.programs[name][i].runs, r.number)
	}
}

// same reports whether two descriptions are of one box with one system.
func same(a, b result.Machine) bool {
	return a.CPU == b.CPU && a.Cores == b.Cores && a.Memory == b.Memory && a.Kernel == b.Kernel && a.System == b.System
}

// hardware says what the box is.
func (b box) hardware() string {
	return clean(fmt.Sprintf("%s, %s, %.1f GiB", b.CPU, plural(b.Cores, "core", "cores"), float64(b.Memory)/(1<<30)))
}

// versions lists the programs in order. One that changed between runs says in
// which it was what.
func (b box) versions() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.programs)) {
		var texts []string
		for _, v := range b.programs[name] {
			text := release(v.text)
			if len(b.programs[name]) > 1 {
				text += " (" + either(len(v.runs) == 1, "run ", "runs ") + spans(v.runs) + ")"
			}
			texts = append(texts, text)
		}
		all = append(all, cut(clean(name+" "+strings.Join(texts, " and ")), maxText))
	}
	return all
}

// What programs say of their versions: a number with dots in it somewhere, or a
// word after the word version.
var (
	dotted = regexp.MustCompile(`\bv?\d+\.\d[^\s,;()]*`)
	saying = regexp.MustCompile(`(?i)^.*\bversion\s+`)
)

// release is what a program says of its version without the words around it.
func release(s string) string {
	s = clean(s)
	if n := dotted.FindString(s); n != "" {
		return n
	}
	return saying.ReplaceAllString(s, "")
}

// when is the day of the runs, or the first and the last.
func (b box) when() string {
	if day(b.first) == day(b.last) {
		return day(b.first)
	}
	return day(b.first) + " to " + day(b.last)
}

// line says all of it in one line.
func (b box) line() string {
	parts := append([]string{b.hardware(), clean(b.System), clean(b.Kernel)}, b.versions()...)
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return fmt.Sprintf("%s, on %s.", b.when(), strings.Join(parts, ", "))
}
