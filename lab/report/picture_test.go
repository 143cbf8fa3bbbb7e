package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load"
	"recuse/lab/result"
)

// TestPicture: each party has its rows below each other, in the order of cause
// and effect, and nothing overlaps.
func TestPicture(t *testing.T) {
	r, records := frozen().run()
	p := newPicture(r, records)
	var got []string
	y := p.Slow.Y + p.Slow.Height
	for _, row := range p.Rows {
		got = append(got, row.Label)
		if row.Y < y {
			t.Errorf("row %s at %d overlaps the one before, which ends at %d", row.Label, row.Y, y)
		}
		y = row.Y + row.Height
	}
	want := []string{"router routes",
		"n1 answers", "n1 checks", "n1 stance", "n1 bgp", "n1 bfd",
		"n2 answers", "n2 checks", "n2 stance", "n2 bgp", "n2 bfd",
		"n3 answers", "n3 checks", "n3 stance", "n3 bgp", "n3 bfd"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected rows (-want +got):\n%s", diff)
	}
	if y > p.Plot || p.Plot >= p.Height {
		t.Errorf("rows end at %d, the plot at %d, the picture at %d", y, p.Plot, p.Height)
	}
	if diff := cmp.Diff([]string{"answered", "lost"}, p.Legend); diff != "" {
		t.Errorf("unexpected legend (-want +got):\n%s", diff)
	}
	if len(p.Actions) != 2 || p.Actions[0].When != "+0.000 s" || p.Actions[0].X != "25%" {
		t.Errorf("unexpected actions: %+v", p.Actions)
	}
	for _, want := range []string{"+0.000 s: n1 frozen", "router routes: 3 next hops: n1, n2, n3; 2 next hops: n2, n3 at +0.900 s", "n1 bfd: UP; DOWN at +0.840 s"} {
		if !strings.Contains(p.Desc, want) {
			t.Errorf("description lacks %q: %s", want, p.Desc)
		}
	}
}

// TestBadges: actions too close to tell apart share one.
func TestBadges(t *testing.T) {
	var events []result.Event
	for _, s := range []float64{10, 10.1, 10.5, 20, 21.5} {
		events = append(events, result.Event{At: second(s), Lane: result.LaneLab, Text: "x"})
	}
	p := newPicture(result.Run{Phases: phases(10*time.Second, 20*time.Second, 10*time.Second), Events: events}, nil)
	want := []badge{{"25%", "1–3"}, {"50%", "4"}, {"53.75%", "5"}}
	if diff := cmp.Diff(want, p.Badges); diff != "" {
		t.Errorf("unexpected badges (-want +got):\n%s", diff)
	}
	if len(p.Actions) != 5 {
		t.Errorf("unexpected actions: %v", p.Actions)
	}
}

// TestSlimBand: what lasted a moment is drawn, and over its neighbours.
func TestSlimBand(t *testing.T) {
	events := []result.Event{{At: second(0), Lane: "n1 bfd", State: "UP"}, {At: second(20), Lane: "n1 bfd", State: "DOWN"},
		{At: second(20.01), Lane: "n1 bfd", State: "UP"}}
	p := newPicture(result.Run{Phases: phases(10*time.Second, 20*time.Second, 10*time.Second), Events: events}, nil)
	bands := p.Rows[0].Bands
	last := bands[len(bands)-1]
	if len(bands) != 3 || last.Mood != moodBad || last.Width != "0.3%" || last.X != "50%" || last.Text != "" {
		t.Errorf("unexpected bands: %+v", bands)
	}
}

// TestPictureOfOtherServers: who answered without a lane has a row of its own,
// and a server that does not say its name too.
func TestPictureOfOtherServers(t *testing.T) {
	a, records := four()
	records[0].Node = ""
	records[2].Node = "router"
	p := newPicture(result.Run{Started: a.from, Took: time.Second,
		Events: []result.Event{{At: a.from, Lane: "router routes", State: "1 next hop"}}}, records)
	var got []string
	for _, row := range p.Rows {
		got = append(got, row.Full)
	}
	if diff := cmp.Diff([]string{"router answers", "router routes", "unnamed answers"}, got); diff != "" {
		t.Errorf("unexpected rows (-want +got):\n%s", diff)
	}
}

// TestPictureOfNothing: neither phases, records nor events are needed.
func TestPictureOfNothing(t *testing.T) {
	p := newPicture(result.Run{}, nil)
	if p.Bins != 1 || len(p.Rows) != 0 || p.Slow != nil || p.Height <= p.Plot {
		t.Errorf("unexpected picture of nothing: %+v", p)
	}
}

// TestSums: one client has no distribution.
func TestSums(t *testing.T) {
	names := func(f load.Figures) (all []string) {
		for _, m := range sums(f) {
			all = append(all, m.label)
		}
		return all
	}
	one, many := names(load.Figures{Clients: load.Clients{Count: 1}}), names(load.Figures{Clients: load.Clients{Count: 9}})
	if len(many) != len(one)+3 {
		t.Errorf("unexpected figures of one client %v, of many %v", one, many)
	}
}
