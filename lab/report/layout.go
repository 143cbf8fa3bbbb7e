package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
)

// addPhases lays out the phases; those in which something is broken are shaded.
func (p *picture) addPhases(a axis, phases []result.Phase) {
	for _, ph := range phases[:min(len(phases), maxActions)] {
		x := a.at(ph.From)
		width := max(a.at(ph.To)-x, 0)
		v := phase{X: percent(x), Width: percent(width), Shade: ph.Name == "action" || ph.Name == "fault"}
		if width >= namePhase {
			v.Name = cut(clean(ph.Name), maxText)
		}
		p.Phases = append(p.Phases, v)
	}
}

// addActions lays out what the lab did. Actions close to each other share a
// badge, as "2–4".
func (p *picture) addActions(a axis, events []result.Event) {
	var at float64
	first := 0
	for _, e := range inOrder(events) {
		if e.Lane != result.LaneLab || len(p.Actions) == maxActions {
			continue
		}
		n := len(p.Actions) + 1
		x := a.at(e.At)
		text := strings.TrimSpace(e.Text + " " + e.State)
		p.Actions = append(p.Actions, action{n, percent(x), offset(e.At.Sub(a.zero)), cut(clean(text), maxText)})
		if len(p.Badges) > 0 && x-at < oneBadge {
			p.Badges[len(p.Badges)-1].Text = fmt.Sprintf("%d–%d", first, n)
			continue
		}
		p.Badges = append(p.Badges, badge{percent(x), number(n)})
		at, first = x, n
	}
}

// inOrder are the events in the order of time.
func inOrder(events []result.Event) []result.Event {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b result.Event) int { return a.At.Compare(b.At) })
	return sorted
}

// addEvents lists the events in words.
func (p *picture) addEvents(a axis, events []result.Event) {
	for i, e := range inOrder(events) {
		if i == maxEvents {
			p.More = len(events) - i
			return
		}
		p.Events = append(p.Events, eventLine{offset(e.At.Sub(a.zero)), cut(clean(e.Lane), maxText), cut(clean(e.State), maxText),
			cut(clean(e.Text), maxText)})
	}
}

// addRows lays out each party's answers and lanes below each other, from y on,
// and returns where they end.
func (p *picture) addRows(a axis, b bins, found []lane, y int) int {
	names := b.names()
	names = names[:min(len(names), maxNodes)]
	for _, who := range parties(found, names) {
		y += partyGap - rowGap
		if slices.Contains(names, who) {
			ar := b.nodeArea(who)
			p.Rows = append(p.Rows, newRow(who+" answers", y, nodeRow, &ar))
			y += nodeRow + rowGap
		}
		for _, l := range found {
			if owner, _ := party(l.name); owner == who {
				rw := newRow(l.name, y, bandRow, nil)
				rw.fill(a, l)
				p.Rows = append(p.Rows, rw)
				p.Moods = p.Moods || slices.ContainsFunc(l.bands, func(b band) bool { return b.mood != moodPlain })
				y += bandRow + rowGap
			}
		}
	}
	return y
}

// parties are the owners of lanes, in the lanes' order, and the nodes that
// answered, each once.
func parties(found []lane, names []string) []string {
	var all []string
	for _, l := range found {
		if who, _ := party(l.name); !slices.Contains(all, who) {
			all = append(all, who)
		}
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, byParty)
	return all
}

// newRow is a row with its name, shortened to what there is room for.
func newRow(name string, y, height int, ar *area) row {
	name = clean(name)
	return row{Y: y, Height: height, Label: cut(name, maxLabel), Full: cut(name, maxText), Area: ar}
}

// fill lays out a lane's bands and marks. Bands too short to be seen are drawn
// last, a little wider than they were.
func (r *row) fill(a axis, l lane) {
	var slim []bandView
	for _, b := range l.bands {
		x := a.at(b.from)
		width := a.at(b.to) - x
		v := bandView{X: percent(x), Width: percent(max(width, leastBand)), Mood: b.mood, Title: title(a, b)}
		if width >= textBand {
			v.Text = cut(clean(b.state), maxState)
		}
		if width < leastBand {
			slim = append(slim, v)
			continue
		}
		r.Bands = append(r.Bands, v)
	}
	r.Bands = append(r.Bands, slim...)
	for _, m := range l.marks {
		r.Marks = append(r.Marks, markView{percent(a.at(m.at)), cut(clean(offset(m.at.Sub(a.zero))+" "+m.text), maxTitle)})
	}
}

// title says a band in words.
func title(a axis, b band) string {
	s := fmt.Sprintf("%s from %s to %s", b.state, offset(b.from.Sub(a.zero)), offset(b.to.Sub(a.zero)))
	if b.text != "" {
		s += ": " + b.text
	}
	return cut(clean(s), maxTitle)
}

// describe says the picture in words, for those who do not see it: what the lab
// did, and the states that every lane went through.
func (p picture) describe(a axis, found []lane) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Time line of %s in steps of %s; zero is the lab's action.", a.span().Round(time.Millisecond), a.width)
	for _, ac := range p.Actions[:min(len(p.Actions), 10)] {
		fmt.Fprintf(&s, " %s: %s.", ac.When, ac.Text)
	}
	for _, l := range found[:min(len(found), maxNodes)] {
		if len(l.bands) == 0 {
			continue
		}
		fmt.Fprintf(&s, " %s: %s", cut(clean(l.name), maxText), cut(clean(l.bands[0].state), maxState))
		for _, b := range l.bands[1:min(len(l.bands), 6)] {
			fmt.Fprintf(&s, "; %s at %s", cut(clean(b.state), maxState), offset(b.from.Sub(a.zero)))
		}
		s.WriteString(".")
	}
	return s.String()
}
