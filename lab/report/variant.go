package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"recuse/lab/result"
)

// designs are in the order in which they came to be; unknown ones come after.
var designs = []string{"baseline", "relay", "anycast"}

// aspect is one of the things besides the design in which setups differ.
type aspect struct {
	name string
	of   func(result.Setup) string // for a label, which is short
}

// aspects are all of them, in the order of a label.
var aspects = []aspect{
	{"agent", func(s result.Setup) string { return s.Agent }},
	{"settings", func(s result.Setup) string { return either(s.Tuned, "tuned", "defaults") }},
	{"router", func(s result.Setup) string { return s.Router }},
	{"layout", func(s result.Setup) string { return s.Layout }},
	{"last resort", func(s result.Setup) string { return prefix("last resort ", s.LastResort) }},
	{"backend", func(s result.Setup) string { return s.Backend }},
	{"stub", func(s result.Setup) string { return prefix("stub ", s.Stub) }},
	{"rate", func(s result.Setup) string { return float(s.Rate) + "/s" }},
	{"length", func(s result.Setup) string { return "length ×" + float(s.Scale) }},
}

// either is a choice between two words.
func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// prefix puts a word before a value, if there is a value.
func prefix(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// float spells a rate or a scale as short as it can be.
func float(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// labels names every setup by its design, unless there is only one, and by what
// else tells it from the other setups of that design; what they share is in the
// legend.
func labels(runs []result.Run) map[result.Setup]string {
	setups := map[string][]result.Setup{}
	for _, r := range runs {
		if !slices.Contains(setups[r.Setup.Design], r.Setup) {
			setups[r.Setup.Design] = append(setups[r.Setup.Design], r.Setup)
		}
	}
	all := map[result.Setup]string{}
	for design, same := range setups {
		for _, s := range same {
			var parts []string
			if len(setups) > 1 || len(same) == 1 {
				parts = append(parts, clean(design))
			}
			for _, a := range aspects {
				if v := clean(a.of(s)); v != "" && differs(same, a) {
					parts = append(parts, v)
				}
			}
			all[s] = strings.Join(parts, ", ")
		}
	}
	return all
}

// differs reports whether an aspect tells any of the setups from another.
func differs(setups []result.Setup, a aspect) bool {
	return slices.ContainsFunc(setups, func(s result.Setup) bool { return a.of(s) != a.of(setups[0]) })
}

// facts are everything about a setup, each always in the same place.
func facts(s result.Setup) []string {
	agent := ""
	if s.Agent != "" && s.Agent != "none" {
		agent = fmt.Sprintf("agent %s (%s)", s.Agent, either(s.Tuned, "tuned", "defaults"))
	}
	length := ""
	if s.Scale != 1 {
		length = "phases " + float(s.Scale) + " of their full length"
	}
	return []string{prefix("design ", s.Design), agent, prefix("router ", s.Router), prefix("layout ", s.Layout),
		prefix("last resort ", s.LastResort), prefix("backend ", s.Backend), prefix("stub ", s.Stub),
		float(s.Rate) + " questions a second", length}
}

// describe says everything about a setup.
func describe(s result.Setup) string { return sentence(facts(s)) }

// sentence joins what there is of some facts.
func sentence(facts []string) string {
	return clean(strings.Join(slices.DeleteFunc(facts, func(p string) bool { return p == "" }), ", "))
}

// legend says of each label, in order, what it stands for; what is true of all
// setups comes first, once.
func legend(setups []result.Setup, label map[result.Setup]string) []meaning {
	if len(setups) == 1 {
		return []meaning{{label[setups[0]], describe(setups[0])}}
	}
	var all []string
	shared := map[int]bool{}
	for i := range facts(result.Setup{}) {
		differs := func(s result.Setup) bool { return facts(s)[i] != facts(setups[0])[i] }
		if len(setups) > 0 && !slices.ContainsFunc(setups, differs) {
			shared[i] = true
			all = append(all, facts(setups[0])[i])
		}
	}
	var lines []meaning
	if text := sentence(all); text != "" {
		lines = append(lines, meaning{"all", text})
	}
	for _, s := range setups {
		own := facts(s)
		for i := range own {
			if shared[i] {
				own[i] = ""
			}
		}
		lines = append(lines, meaning{label[s], sentence(own)})
	}
	return lines
}

// byDesign orders setups: by design, this project's agent before the others,
// then by label.
func byDesign(a, b result.Setup, label map[result.Setup]string) int {
	return cmp.Or(cmp.Compare(place(a.Design), place(b.Design)), cmp.Compare(other(a), other(b)), cmp.Compare(label[a], label[b]))
}

// other is 1 for another agent than this project's.
func other(s result.Setup) int {
	if s.Agent == "recuse" {
		return 0
	}
	return 1
}

// place is a design's place in designs.
func place(design string) int {
	if i := slices.Index(designs, design); i >= 0 {
		return i
	}
	return len(designs)
}
