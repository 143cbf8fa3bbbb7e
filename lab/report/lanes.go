package report

import (
	"slices"
	"time"

	"recuse/lab/result"
)

// Bounds of the lanes of one picture.
const (
	maxLanes = 40
	maxBands = 260 // of all lanes together
	maxMarks = 10  // of one lane
)

// lane is one row of the picture: a party's states over time.
type lane struct {
	name  string
	bands []band
	marks []moment
	parts []part // as they stand
}

// part is the state of a part of a lane, such as of one of several checks.
type part struct {
	name string
	band
}

// band is a lane in one state for a while.
type band struct {
	from, to time.Time
	state    string
	text     string // of the event that began it
	mood     mood
}

// moment is an event without a state.
type moment struct {
	at   time.Time
	text string
}

// lanes makes lanes of a run's events, the lab's own apart, and says how many
// more there would be. A lane begins with its first event, since nothing is
// known of it before.
func lanes(a axis, events []result.Event) (all []lane, hidden int) {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b result.Event) int { return a.At.Compare(b.At) })
	byName := map[string]*lane{}
	var names []string
	for _, e := range sorted {
		if e.Lane == result.LaneLab {
			continue
		}
		l := byName[e.Lane]
		if l == nil {
			l = &lane{name: e.Lane}
			byName[e.Lane] = l
			names = append(names, e.Lane)
		}
		l.add(e)
	}
	slices.SortStableFunc(names, byParty)
	hidden = max(len(names)-maxLanes, 0)
	names = names[:len(names)-hidden]
	all = make([]lane, len(names))
	for i, n := range names {
		all[i] = *byName[n]
		all[i].close(a)
		all[i].marks = all[i].marks[:min(len(all[i].marks), maxMarks)]
	}
	limit(a, all)
	return all, hidden
}

// limit shares maxBands out: a lane that needs few leaves the rest to the
// others, and those that need more than their share are drawn in columns.
func limit(a axis, all []lane) {
	order := make([]*lane, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortStableFunc(order, func(a, b *lane) int { return len(a.bands) - len(b.bands) })
	left := maxBands
	for i, l := range order {
		if share := left / (len(order) - i); len(l.bands) > share {
			l.bands = merge(a, l.bands, share)
		}
		left -= len(l.bands)
	}
}

// add puts the next event in; one that leaves the lane in its state is no new
// band.
func (l *lane) add(e result.Event) {
	if e.State == "" {
		l.marks = append(l.marks, moment{e.At, e.Text})
		return
	}
	b := l.worst(e)
	b.from = e.At
	if n := len(l.bands); n > 0 {
		if l.bands[n-1].state == b.state {
			return
		}
		l.bands[n-1].to = e.At
	}
	l.bands = append(l.bands, b)
}

// worst is the state of the lane after an event: that of its worst part.
func (l *lane) worst(e result.Event) band {
	now := part{e.Part, newBand(e)}
	if e.State == result.StateGone {
		l.parts = nil
	}
	i := slices.IndexFunc(l.parts, func(p part) bool { return p.name == e.Part })
	if i < 0 {
		i = len(l.parts)
		l.parts = append(l.parts, now)
	}
	l.parts[i] = now
	worst := now.band
	for _, p := range l.parts {
		if slices.Index(moods, p.mood) < slices.Index(moods, worst.mood) {
			worst = p.band
		}
	}
	return worst
}

// newBand is what an event begins. A value, such as a number of next hops, says
// little without its particulars, such as whose they are.
func newBand(e result.Event) band {
	b := band{from: e.At, state: e.State, text: e.Text, mood: moodOf(e.State)}
	if b.mood == moodPlain && e.Text != "" && len(e.Text) <= maxState {
		b.state, b.text = e.State+": "+e.Text, ""
	}
	return b
}

// close ends the last band with the axis, and cuts off what is outside of it.
func (l *lane) close(a axis) {
	end := a.from.Add(a.span())
	if n := len(l.bands); n > 0 {
		l.bands[n-1].to = latest(end, l.bands[n-1].from)
	}
	l.bands = slices.DeleteFunc(l.bands, func(b band) bool { return !b.to.After(a.from) || !b.from.Before(end) })
	for i := range l.bands {
		b := &l.bands[i]
		b.from = latest(b.from, a.from)
		if b.to.After(end) {
			b.to = end
		}
	}
	l.marks = slices.DeleteFunc(l.marks, func(m moment) bool { return m.at.Before(a.from) || m.at.After(end) })
}
