package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/result"
)

// second is a moment of the tests' axis, which has forty seconds.
func second(s float64) time.Time { return sampleStart.Add(time.Duration(s * float64(time.Second))) }

// forty is that axis.
func forty() axis {
	return newAxis(result.Run{Phases: phases(10*time.Second, 20*time.Second, 10*time.Second)}, nil)
}

// spelled writes bands as text.
func spelled(bands []band) []string {
	var all []string
	for _, b := range bands {
		all = append(all, fmt.Sprintf("%g-%g %s %s", b.from.Sub(sampleStart).Seconds(), b.to.Sub(sampleStart).Seconds(), b.state, b.mood))
	}
	return all
}

func TestLanes(t *testing.T) {
	events := []result.Event{
		// In no order, as several watchers deliver them.
		{At: second(12), Lane: "n1 stance", State: "withdrawn"},
		{At: second(-5), Lane: "n1 stance", State: "announced"},
		{At: second(12.5), Lane: "n1 stance", State: "withdrawn", Text: "the same again"},
		{At: second(35), Lane: "n1 stance", State: "depreferred"},
		{At: second(50), Lane: "n1 stance", State: "announced"},
		{At: second(11), Lane: "n1 stance", Text: "a mark"},
		{At: second(99), Lane: "n1 stance", Text: "a mark after the end"},
		{At: second(1), Lane: result.LaneLab, Text: "not a lane"},
	}
	got, _ := lanes(forty(), events)
	if len(got) != 1 || got[0].name != "n1 stance" {
		t.Fatalf("unexpected lanes: %+v", got)
	}
	want := []string{"0-12 announced good", "12-35 withdrawn out", "35-40 depreferred second"}
	if diff := cmp.Diff(want, spelled(got[0].bands)); diff != "" {
		t.Errorf("unexpected bands (-want +got):\n%s", diff)
	}
	if len(got[0].marks) != 1 || got[0].marks[0].text != "a mark" {
		t.Errorf("unexpected marks: %v", got[0].marks)
	}
}

func TestLaneOrder(t *testing.T) {
	var events []result.Event
	for _, l := range []string{"n10 bfd", "n2 bgp", "n2 checks", "n2 odd", "n2 stance", "n10 checks", "router routes", "n2 bfd", "relay 10.0.0.1"} {
		events = append(events, result.Event{At: second(0), Lane: l, State: "x"})
	}
	var got []string
	found, _ := lanes(forty(), events)
	for _, l := range found {
		got = append(got, l.name)
	}
	want := []string{"relay 10.0.0.1", "router routes", "n2 checks", "n2 stance", "n2 bgp", "n2 bfd", "n2 odd", "n10 checks", "n10 bfd"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected order (-want +got):\n%s", diff)
	}
}

func TestMood(t *testing.T) {
	for state, want := range map[string]mood{
		"announced": moodGood, "UP": moodGood, "Established": moodGood, "ESTABLISHED": moodGood, "ok": moodGood,
		"depreferred": moodWarn, "sick": moodWarn, "slow": moodWarn,
		"withdrawn": moodBad, "dead": moodBad, "DOWN": moodBad, "Idle": moodBad, "0 next hops": moodBad, "none": moodBad, "no next hop": moodBad,
		"unknown": moodUnknown, "2 next hops": moodPlain, "10 next hops": moodPlain, "": moodPlain, "anything": moodPlain,
	} {
		if got := moodOf(state); got != want {
			t.Errorf("%q: unexpected mood %q, want %q", state, got, want)
		}
	}
}

// TestValues: of a state that is neither good nor bad, the particulars count.
func TestValues(t *testing.T) {
	events := []result.Event{{At: second(0), Lane: "router routes", State: "2 next hops", Text: "n1, n2"},
		{At: second(10), Lane: "router routes", State: "2 next hops", Text: "n2, n3"},
		{At: second(11), Lane: "router routes", State: "2 next hops", Text: "n2, n3"},
		{At: second(20), Lane: "router routes", State: "0 next hops"}}
	found, _ := lanes(forty(), events)
	want := []string{"0-10 2 next hops: n1, n2 plain", "10-20 2 next hops: n2, n3 plain", "20-40 0 next hops out"}
	if diff := cmp.Diff(want, spelled(found[0].bands)); diff != "" {
		t.Errorf("unexpected bands (-want +got):\n%s", diff)
	}
}

// TestParts: a lane is in the worst state of its parts.
func TestParts(t *testing.T) {
	event := func(s float64, part, state string) result.Event {
		return result.Event{At: second(s), Lane: "n1 checks", Part: part, State: state}
	}
	events := []result.Event{event(0, "a", "ok"), event(1, "b", "ok"), event(10, "a", "sick"), event(11, "b", "unknown"), event(12, "b", "dead"),
		event(13, "a", "ok"), event(14, "b", "unknown"), event(15, "b", "ok"), event(16, "a", "ok")}
	found, _ := lanes(forty(), events)
	want := []string{"0-10 ok good", "10-12 sick second", "12-14 dead out", "14-15 unknown unknown", "15-40 ok good"}
	if diff := cmp.Diff(want, spelled(found[0].bands)); diff != "" {
		t.Errorf("unexpected bands (-want +got):\n%s", diff)
	}
}

// TestProcess: a frozen process goes on where it was, and one that is gone takes
// what it knew with it.
func TestProcess(t *testing.T) {
	event := func(s float64, part, state string) result.Event {
		return result.Event{At: second(s), Lane: "n1 stance", Part: part, State: state}
	}
	events := []result.Event{event(0, "", "announced"), event(5, "process", "frozen"), event(6, "process", "running"),
		event(10, "process", "gone"), event(20, "process", "running"), event(25, "", "announced")}
	found, _ := lanes(forty(), events)
	want := []string{"0-5 announced good", "5-6 frozen unknown", "6-10 announced good", "10-20 gone out", "20-25 running plain", "25-40 announced good"}
	if diff := cmp.Diff(want, spelled(found[0].bands)); diff != "" {
		t.Errorf("unexpected bands (-want +got):\n%s", diff)
	}
}

// TestRestlessLane: a lane that changes all the time is bounded, and its bad
// moments are not averaged away.
func TestRestlessLane(t *testing.T) {
	var events []result.Event
	for i := range 20000 {
		events = append(events, result.Event{At: second(float64(i) / 500), Lane: "n1 stance", State: "announced"})
		if i%10 == 5 {
			events[i].State = "withdrawn"
		}
	}
	found, _ := lanes(forty(), events)
	l := found[0]
	if len(l.bands) == 0 || len(l.bands) > maxBands {
		t.Fatalf("unexpected number of bands: %d", len(l.bands))
	}
	for _, b := range l.bands {
		if b.state != "withdrawn" {
			t.Errorf("unexpected state %q of a span that was withdrawn ten times", b.state)
		}
	}
	if got, want := l.bands[len(l.bands)-1].to, second(40); got.Before(want.Add(-100 * time.Millisecond)) {
		t.Errorf("bands end at %s, want %s", got, want)
	}
}

// TestManyLanes bounds their number and their bands together.
func TestManyLanes(t *testing.T) {
	var events []result.Event
	for n := range 200 {
		for i := range 100 {
			events = append(events, result.Event{At: second(float64(i) / 3), Lane: fmt.Sprintf("n%d stance", n), State: fmt.Sprint(i)})
		}
	}
	got, hidden := lanes(forty(), events)
	total := 0
	for _, l := range got {
		total += len(l.bands)
	}
	if len(got) != maxLanes || hidden != 200-maxLanes || total > maxBands {
		t.Errorf("unexpected size: %d lanes, %d bands", len(got), total)
	}
}
