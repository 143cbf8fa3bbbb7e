package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load"
	"recuse/lab/result"
)

// four are questions in a second of four bins: answered, stalled, bad, lost.
func four() (axis, []load.Record) {
	a := axis{zero: sampleStart, from: sampleStart, width: 250 * time.Millisecond, bins: 4}
	var all []load.Record
	for i := range 4 {
		at := sampleStart.Add(time.Duration(i) * 250 * time.Millisecond)
		r := load.Record{Seq: i, Intended: at}
		r.Sent, r.Ended, r.Outcome, r.Node = at, at.Add(time.Millisecond), load.Answered, "n1"
		all = append(all, r)
	}
	all[1].Ended = all[1].Intended.Add(1500 * time.Millisecond)
	all[2].Rcode, all[2].Node = 2, "n2"
	all[3].Outcome, all[3].Node = load.Timeout, ""
	return a, all
}

func TestBins(t *testing.T) {
	a, records := four()
	records = append(records, load.Record{Intended: sampleStart.Add(-time.Minute), Answer: load.Answer{Outcome: load.Refused}})
	b := newBins(a, records)
	want := [][outcomes]int{{answered: 1}, {stalled: 1}, {bad: 1}, {lost: 1}}
	if diff := cmp.Diff(want, b.ends); diff != "" {
		t.Errorf("unexpected outcomes (-want +got):\n%s", diff)
	}
	// The stalled answer came after the end of the axis.
	if diff := cmp.Diff(map[string][]int{"n1": {1, 0, 0, 0}, "n2": {0, 0, 1, 0}}, b.nodes); diff != "" {
		t.Errorf("unexpected answers by node (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Duration{time.Millisecond, 1500 * time.Millisecond, time.Millisecond, 0}, b.slowest); diff != "" {
		t.Errorf("unexpected slowest answers (-want +got):\n%s", diff)
	}
	if b.cut != [outcomes]int{lost: 1} || b.top() != 1 || b.topNode() != 1 {
		t.Errorf("unexpected cut %v, top %d, most of a node %d", b.cut, b.top(), b.topNode())
	}
}

// TestStack: every outcome stands at its own time, failures on the ground.
func TestStack(t *testing.T) {
	a, records := four()
	want := []area{
		{"lost", "M3 100V0H4V100z"}, {"bad", "M2 100V0H3V100z"}, {"stalled", "M1 100V0H2V100z"}, {"answered", "M0 100V0H1V100z"},
	}
	if diff := cmp.Diff(want, newBins(a, records).stack()); diff != "" {
		t.Errorf("unexpected areas (-want +got):\n%s", diff)
	}
}

// TestOneLostIsSeen among thousands, and the stack still fits.
func TestOneLostIsSeen(t *testing.T) {
	a := axis{zero: sampleStart, from: sampleStart, width: time.Second, bins: 1}
	b := bins{axis: a, ends: [][outcomes]int{{lost: 1, answered: 9999}}}
	want := []area{{"lost", "M0 100V97H1V100z"}, {"answered", "M0 97V0H1V97z"}}
	if diff := cmp.Diff(want, b.stack()); diff != "" {
		t.Errorf("unexpected areas (-want +got):\n%s", diff)
	}
}

// TestLateTogether: answers that come late and all at once do not flatten what
// the node answered before.
func TestLateTogether(t *testing.T) {
	a := axis{zero: sampleStart, from: sampleStart, width: time.Second, bins: 2}
	b := bins{axis: a, ends: [][outcomes]int{{answered: 10}, {answered: 10}}, nodes: map[string][]int{"n1": {5, 500}}}
	if got, want := b.nodeArea("n1").D, "M0 100V50H1V0H2V100z"; got != want {
		t.Errorf("unexpected area %q, want %q", got, want)
	}
}

func TestShape(t *testing.T) {
	tests := []struct {
		name       string
		foot, head []float64
		want       string
	}{
		{"nothing", []float64{0, 0}, []float64{0, 0}, ""},
		{"level", []float64{0, 0, 0}, []float64{50, 50, 50}, "M0 100V50H3V100z"},
		{"steps", []float64{0, 0}, []float64{50, 100}, "M0 100V50H1V0H2V100z"},
		{"two figures", []float64{0, 0, 0}, []float64{50, 0, 50}, "M0 100V50H1V100zM2 100V50H3V100z"},
		{"on steps", []float64{10, 20}, []float64{30, 30}, "M0 90V70H2V80H1V90z"},
	}
	for _, tt := range tests {
		if got := shape(tt.foot, tt.head); got != tt.want {
			t.Errorf("%s: unexpected path %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLogHeight(t *testing.T) {
	for d, want := range map[time.Duration]float64{
		10 * time.Microsecond: leastHeight, 10 * time.Millisecond: 25, time.Second: 75, 10 * time.Second: 100, time.Hour: 100,
	} {
		if got := logHeight(d); got < want-0.01 || got > want+0.01 {
			t.Errorf("%s: unexpected height %v, want %v", d, got, want)
		}
	}
}

func TestHits(t *testing.T) {
	a, records := four()
	var got []string
	for _, h := range newBins(a, records).hits() {
		got = append(got, h.X+" "+h.Text)
	}
	want := []string{"25% from +0.250 s, for 0.25 s: 1 asked, 1 stalled", "50% from +0.500 s, for 0.25 s: 1 asked, 1 bad",
		"75% from +0.750 s, for 0.25 s: 1 asked, 1 lost"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected hits (-want +got):\n%s", diff)
	}
}

// TestBinsOfNothing: a run without records has a picture all the same.
func TestBinsOfNothing(t *testing.T) {
	b := newBins(newAxis(result.Run{}, nil), nil)
	if b.top() != 0 || len(b.stack()) != 0 || b.slowArea().D != "" || len(b.hits()) != 0 {
		t.Errorf("unexpected bins of nothing: %+v", b)
	}
}
