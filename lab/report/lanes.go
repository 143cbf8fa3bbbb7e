package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
)

// Bounds of the lanes of one picture.
const (
	maxLanes = 40
	maxBands = 260 // of all lanes together
	maxMarks = 10  // of one lane
)

// mood is how good a state is, which its look on the page says without colour:
// light, hatched, dark.
type mood string

// The moods, from the worst to the best.
const (
	moodBad     mood = "out"     // dark
	moodWarn    mood = "second"  // hatched
	moodUnknown mood = "unknown" // dotted
	moodGood    mood = "good"    // light
	moodPlain   mood = "plain"   // a border only: a value that is neither
)

// moods are ordered from the worst, for states that share one spot.
var moods = []mood{moodBad, moodWarn, moodUnknown, moodGood, moodPlain}

// states are those that have a mood.
var states = map[string]mood{
	"announced": moodGood, "ok": moodGood, "up": moodGood, "established": moodGood, "running": moodGood,
	"depreferred": moodWarn, "slow": moodWarn, "sick": moodWarn, "draining": moodWarn,
	"withdrawn": moodBad, "dead": moodBad, "down": moodBad, "admindown": moodBad, "idle": moodBad, "active": moodBad,
	"connect": moodBad, "opensent": moodBad, "openconfirm": moodBad, "init": moodBad, "stopped": moodBad, "failed": moodBad, "gone": moodBad, "killed": moodBad,
	"unknown": moodUnknown, "frozen": moodUnknown, "silent": moodUnknown,
}

// moodOf is the mood of a state by its first word; no next hops are bad.
func moodOf(state string) mood {
	word, rest, _ := strings.Cut(strings.ToLower(state), " ")
	if m, ok := states[word]; ok {
		return m
	}
	if word == "none" || (word == "no" || word == "0") && strings.HasPrefix(rest, "next hop") {
		return moodBad
	}
	return moodPlain
}

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

// merge draws a lane that changes all the time in columns of equal width, each
// in the worst state that it saw.
func merge(a axis, bands []band, columns int) []band {
	step := a.span() / time.Duration(columns)
	var all []band
	next := 0
	for i := range columns {
		from := a.from.Add(time.Duration(i) * step)
		to := from.Add(step)
		var worst *band
		for next < len(bands) && !bands[next].to.After(from) {
			next++
		}
		for j := next; j < len(bands) && bands[j].from.Before(to); j++ {
			if worst == nil || slices.Index(moods, bands[j].mood) < slices.Index(moods, worst.mood) {
				worst = &bands[j]
			}
		}
		if worst == nil {
			continue
		}
		if n := len(all); n > 0 && all[n-1].state == worst.state && all[n-1].to.Equal(from) {
			all[n-1].to = to
			continue
		}
		all = append(all, band{from: from, to: to, state: worst.state, mood: worst.mood, text: "changes too often to draw: the worst of this span"})
	}
	return all
}

// kinds are the lanes of one party, in the order in which cause becomes effect.
var kinds = []string{"checks", "stance", "bgp", "bfd", "routes"}

// party splits a lane's name into whose it is and what it is.
func party(name string) (who, what string) {
	who, what, _ = strings.Cut(name, " ")
	return who, what
}

// byParty orders lanes: party by party, and those of one by kind.
func byParty(a, b string) int {
	whoA, whatA := party(a)
	whoB, whatB := party(b)
	return cmp.Or(cmp.Compare(rank(whoA), rank(whoB)), natural(whoA, whoB), cmp.Compare(kind(whatA), kind(whatB)),
		cmp.Compare(whatA, whatB))
}

// before are the parties between the clients and the nodes, from the clients on.
var before = []string{"relay", "router"}

// rank puts those before the nodes above them.
func rank(who string) int {
	if i := slices.Index(before, who); i >= 0 {
		return i
	}
	return len(before)
}

// natural orders names that end in numbers by them: n2 before n10.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// kind is the place of a lane's kind in kinds.
func kind(what string) int {
	if i := slices.Index(kinds, what); i >= 0 {
		return i
	}
	return len(kinds)
}
