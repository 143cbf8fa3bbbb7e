package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
)

// box is a machine and the runs that were made on it.
type box struct {
	result.Machine
	runs        []int // their numbers
	first, last time.Time
}

// machines are the boxes of all runs, each once. Two states of one box, with
// other versions on it, are two.
func (t table) machines() []box {
	var all []box
	for _, r := range t.runs {
		i := slices.IndexFunc(all, func(b box) bool { return same(b.Machine, r.Machine) })
		if i < 0 {
			i = len(all)
			all = append(all, box{Machine: r.Machine, first: r.Started, last: r.Started})
		}
		b := &all[i]
		b.runs = append(b.runs, r.number)
		if r.Started.Before(b.first) {
			b.first = r.Started
		}
		if r.Started.After(b.last) {
			b.last = r.Started
		}
	}
	return all
}

// same reports whether two descriptions are of one box in one state.
func same(a, b result.Machine) bool {
	return a.CPU == b.CPU && a.Cores == b.Cores && a.Memory == b.Memory && a.Kernel == b.Kernel &&
		a.System == b.System && maps.Equal(a.Versions, b.Versions)
}

// hardware says what the box is.
func (b box) hardware() string {
	return clean(fmt.Sprintf("%s, %s, %.1f GiB", b.CPU, plural(b.Cores, "core", "cores"), float64(b.Memory)/(1<<30)))
}

// versions lists the programs in order.
func (b box) versions() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.Versions)) {
		all = append(all, clean(name+" "+b.Versions[name]))
	}
	return all
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
