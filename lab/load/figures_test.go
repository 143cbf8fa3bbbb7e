package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// epoch is when the tests' runs begin.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// script makes the records of a run at 10 questions a second, one letter each:
// a, b: answered by that node after 10 ms; s: SERVFAIL by node a; x: timeout;
// r: refused; L: answered by a, but sent 5 ms late.
func script(letters string) []Record {
	var records []Record
	for i, c := range letters {
		at := epoch.Add(time.Duration(i) * 100 * time.Millisecond)
		r := Record{Seq: i, Intended: at, Answer: Answer{Sent: at, Ended: at.Add(10 * time.Millisecond), Outcome: Answered, Node: "a"}}
		switch c {
		case 'b':
			r.Node = "b"
		case 's':
			r.Rcode = 2
		case 'x':
			r.Answer = Answer{Sent: at, Ended: at.Add(2 * time.Second), Outcome: Timeout}
		case 'r':
			r.Answer = Answer{Sent: at, Ended: at, Outcome: Refused}
		case 'L':
			r.Sent = at.Add(5 * time.Millisecond)
		}
		records = append(records, r)
	}
	return records
}

func TestSummarize(t *testing.T) {
	ms := time.Millisecond
	at := func(i int) time.Time { return epoch.Add(time.Duration(i) * 100 * ms) }
	tests := []struct {
		name    string
		letters string
		want    Figures
	}{
		{"nothing", "", Figures{Nodes: map[string]int{}}},
		{"all well", "abab", Figures{
			Asked: 4, WorstGap: 100 * ms, Nodes: map[string]int{"a": 2, "b": 2},
			P50: 10 * ms, P95: 10 * ms, P99: 10 * ms, Max: 10 * ms,
		}},
		{"a third lost for a while", "aaxabxaaaaaa", Figures{
			Asked: 12, Lost: 2, WorstGap: 200 * ms, FirstLost: at(2), LastLost: at(5),
			Nodes: map[string]int{"a": 9, "b": 1},
			P50:   10 * ms, P95: Infinite, P99: Infinite, Max: Infinite,
		}},
		{"a failure is no gap's end", "axsra", Figures{
			Asked: 5, Lost: 2, Bad: 1, WorstGap: 400 * ms, FirstLost: at(1), LastLost: at(3),
			Nodes: map[string]int{"a": 3},
			P50:   10 * ms, P95: Infinite, P99: Infinite, Max: Infinite,
		}},
		{"lost from the start and to the end", "xxaxxx", Figures{
			Asked: 6, Lost: 5, WorstGap: 300 * ms, FirstLost: at(0), LastLost: at(5),
			Nodes: map[string]int{"a": 1},
			P50:   Infinite, P95: Infinite, P99: Infinite, Max: Infinite,
		}},
		{"nothing ever", "xxx", Figures{
			Asked: 3, Lost: 3, WorstGap: 200 * ms, FirstLost: at(0), LastLost: at(2),
			Nodes: map[string]int{},
			P50:   Infinite, P95: Infinite, P99: Infinite, Max: Infinite,
		}},
		{"the generator was late", "aLa", Figures{
			Asked: 3, WorstGap: 100 * ms, Nodes: map[string]int{"a": 3},
			P50: 10 * ms, P95: 10 * ms, P99: 10 * ms, Max: 10 * ms,
			LateP99: 5 * ms, LateMax: 5 * ms, Void: true,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Summarize(script(tt.letters))); d != "" {
				t.Errorf("unexpected figures (-want +got):\n%s", d)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	tests := []struct {
		q    float64
		want time.Duration
	}{{0, 1}, {0.5, 50}, {0.95, 95}, {0.99, 99}, {1, 100}}
	for _, tt := range tests {
		if got := quantile(hundred, tt.q); got != tt.want {
			t.Errorf("quantile %v is %d, want %d", tt.q, got, tt.want)
		}
	}
}
