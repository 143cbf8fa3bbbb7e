package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// together makes the records of several clients that ask at the same times, a
// string of letters each (see play).
func together(clients ...string) []Record {
	var all []Record
	for id, letters := range clients {
		for _, r := range play(letters) {
			r.Client = id
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b Record) int { return a.Intended.Compare(b.Intended) })
	for i := range all {
		all[i].Seq = i
	}
	return all
}

// TestDistribution shows the third that a router's hash hurt, which the sums
// over all clients hide.
func TestDistribution(t *testing.T) {
	s := time.Second
	calm := strings.Repeat("a", 40)
	hurt := strings.Repeat("a", 10) + strings.Repeat("x", 10) + strings.Repeat("b", 20)
	tests := []struct {
		name    string
		clients []string
		want    Clients
	}{
		{"nobody", nil, Clients{}},
		{"one, well", []string{"aab"}, Clients{Count: 1,
			Gap: every(100 * time.Millisecond), Asked: every(3), Nodes: every(2)}},
		{"a third hurt", []string{calm, calm, hurt, calm, calm, hurt}, Clients{Count: 6, Hurt: 2, Worst: 2,
			Lost: Spread[float64]{0, 0, 0.25, 0.25}, Failed: Spread[float64]{0, 0, 0.25, 0.25},
			Outage: Spread[time.Duration]{0, 0, 2900 * time.Millisecond, 2900 * time.Millisecond},
			Gap:    Spread[time.Duration]{s / 10, s / 10, 11 * s / 10, 11 * s / 10},
			Asked:  every(40), Nodes: Spread[int]{1, 1, 2, 2}}},
		{"bad and stalled are failed and not lost", []string{"aaaa", "asSa"}, Clients{Count: 2, Hurt: 1, Worst: 1,
			Failed: Spread[float64]{0, 0, 0.5, 0.5},
			Outage: Spread[time.Duration]{0, 0, 1510 * time.Millisecond, 1510 * time.Millisecond},
			Gap:    Spread[time.Duration]{s / 10, s / 10, 3 * s / 10, 3 * s / 10},
			Asked:  every(4), Nodes: every(1)}},
		{"more failures break a tie", []string{"xa", "ra", "xx"}, Clients{Count: 3, Hurt: 3, Worst: 2,
			Lost: Spread[float64]{0.5, 0.5, 1, 1}, Failed: Spread[float64]{0.5, 0.5, 1, 1},
			Outage: Spread[time.Duration]{0, 2 * s, 2100 * time.Millisecond, 2100 * time.Millisecond},
			Gap:    every(s / 10), Asked: every(2), Nodes: Spread[int]{0, 1, 1, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Summarize(together(tt.clients...))
			if d := cmp.Diff(tt.want, f.Clients); d != "" {
				t.Errorf("unexpected distribution (-want +got):\n%s", d)
			}
			if f.Outage != f.Clients.Outage.Max || f.WorstGap != f.Clients.Gap.Max {
				t.Errorf("outage %s, gap %s: not those of the worst client", f.Outage, f.WorstGap)
			}
		})
	}
}

// every is the spread of equal values.
func every[T int | time.Duration](v T) Spread[T] { return Spread[T]{v, v, v, v} }

// TestMoved shows when a move counts as needless.
func TestMoved(t *testing.T) {
	at := func(tenths int) time.Time { return epoch.Add(time.Duration(tenths) * 100 * time.Millisecond) }
	// flow makes all records one flow.
	flow := func(letters string) []Record {
		records := play(letters)
		for i := range records {
			records[i].Port = 4000
		}
		return records
	}
	other := flow("aabb")
	other[2].Port, other[3].Port = 4001, 4001
	unknown := flow("aabb")
	unknown[2].Port, unknown[3].Port = 0, 0
	nameless := flow("aabb")
	nameless[2].Node, nameless[3].Node = "", ""
	elsewhere := flow("aabb")
	elsewhere[2].Server, elsewhere[3].Server = "192.0.2.2", "192.0.2.2"
	tests := []struct {
		name    string
		records []Record
		downs   []Down
		want    int
	}{
		{"stays", flow("aaaa"), nil, 0},
		{"moves", flow("aabb"), nil, 1},
		{"moves to and fro", flow("abab"), nil, 3},
		{"moves after losses", flow("aaxxbb"), nil, 1},
		{"another flow is no move", other, nil, 0},
		{"a flow that is not known", unknown, nil, 0},
		{"a node that is not known", nameless, nil, 0},
		{"another server is no move", elsewhere, nil, 0},
		{"the old one was down at the move", flow("aabb"), []Down{{"a", at(2), at(9)}}, 0},
		{"the old one was down for a moment before", flow("aaxxbb"), []Down{{"a", at(2), at(3)}}, 0},
		{"the old one is down to the end", flow("aabb"), []Down{{Node: "a", From: at(1)}}, 0},
		{"the old one was down earlier", flow("aabb"), []Down{{"a", epoch.Add(-time.Hour), at(0)}}, 1},
		{"the old one is down later", flow("aabb"), []Down{{Node: "a", From: at(30)}}, 1},
		{"another was down", flow("aabb"), []Down{{Node: "b", From: at(0)}}, 1},
		{"back to one that returned: the other was up", flow("aabbaa"), []Down{{"a", at(2), at(3)}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Summarize(tt.records, tt.downs...).Moved; got != tt.want {
				t.Errorf("moved %d times, want %d", got, tt.want)
			}
		})
	}
}

func TestWindow(t *testing.T) {
	records := play("abababab")
	at := func(tenths int) time.Time { return epoch.Add(time.Duration(tenths) * 100 * time.Millisecond) }
	tests := []struct {
		name       string
		from, to   time.Time
		first, len int
	}{
		{"all", time.Time{}, time.Time{}, 0, 8},
		{"from a question on", at(3), time.Time{}, 3, 5},
		{"up to a question", time.Time{}, at(3), 0, 3},
		{"between two", at(2), at(5), 2, 3},
		{"between questions", at(2).Add(1), at(5).Add(1), 3, 3},
		{"before", at(-9), at(-5), 0, 0},
		{"after", at(100), at(200), 0, 0},
		{"backwards", at(5), at(2), 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Window(records, tt.from, tt.to)
			if len(got) != tt.len || tt.len > 0 && got[0].Seq != tt.first {
				t.Errorf("%d records from %v, want %d from number %d", len(got), got, tt.len, tt.first)
			}
		})
	}
	if parts := len(Window(records, time.Time{}, at(3))) + len(Window(records, at(3), at(6))) + len(Window(records, at(6), time.Time{})); parts != len(records) {
		t.Errorf("phases that touch have %d records, want all %d", parts, len(records))
	}
}
