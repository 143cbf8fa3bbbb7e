package load

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// epoch is when the tests' runs begin.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// play makes the records of a run at 10 questions a second, one letter each:
// a, b: answered by that node after 10 ms; s: SERVFAIL by node a; x: timeout;
// r: refused at once; L: answered by a, but sent 5 ms late; S: by a, after
// 1.5 s; R: by a, on the second connection; u: not sent.
func play(letters string) []Record {
	var records []Record
	for i, c := range letters {
		at := epoch.Add(time.Duration(i) * 100 * time.Millisecond)
		r := Record{Seq: i, Intended: at, Answer: Answer{Sent: at, Ended: at.Add(10 * time.Millisecond), Outcome: Answered, Node: "a", Port: 1024 + i}}
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
		case 'S':
			r.Ended = at.Add(1500 * time.Millisecond)
		case 'R':
			r.Resets = 1
		case 'u':
			r.Answer = Answer{Ended: at, Outcome: Unsent}
		}
		records = append(records, r)
	}
	return records
}

func TestSummarize(t *testing.T) {
	ms := time.Millisecond
	at := func(i int) time.Time { return epoch.Add(time.Duration(i) * 100 * ms) }
	well := Figures{P50: 10 * ms, P95: 10 * ms, P99: 10 * ms, Max: 10 * ms}
	lossy := Figures{P50: 10 * ms, P95: Infinite, P99: Infinite, Max: Infinite}
	tests := []struct {
		name    string
		letters string
		want    Figures // over the quantiles of base
		base    Figures
	}{
		{"nothing", "", Figures{}, Figures{}},
		{"all well", "abab", Figures{Asked: 4, WorstGap: 100 * ms, Nodes: map[string]int{"a": 2, "b": 2}}, well},
		{"a third lost for a while", "aaxabxaaaaaa", Figures{
			Asked: 12, Lost: 2, WorstGap: 200 * ms, FirstLost: at(2), LastLost: at(5),
			Outage: 2300 * ms, // from 0.2 s to 2.5 s
			Nodes:  map[string]int{"a": 9, "b": 1},
		}, lossy},
		{"two failures far apart", "x" + strings.Repeat("a", 29) + "xa", Figures{
			Asked: 32, Lost: 2, WorstGap: 200 * ms, FirstLost: at(0), LastLost: at(30),
			Outage: 4 * time.Second, Nodes: map[string]int{"a": 30},
		}, lossy},
		{"a failure is no gap's end", "axsra", Figures{
			Asked: 5, Lost: 2, Bad: 1, WorstGap: 400 * ms, FirstLost: at(1), LastLost: at(3),
			Outage: 2 * time.Second, Nodes: map[string]int{"a": 3},
		}, lossy},
		{"a refusal at once and a failure are short", "rsa", Figures{
			Asked: 3, Lost: 1, Bad: 1, WorstGap: 200 * ms, FirstLost: at(0), LastLost: at(0),
			Outage: 10 * ms, Nodes: map[string]int{"a": 2},
		}, lossy},
		{"stalled", "aSaaa", Figures{
			Asked: 5, Stalled: 1, WorstGap: 200 * ms, Outage: 1500 * ms, Nodes: map[string]int{"a": 5},
		}, Figures{P50: 10 * ms, P95: 1500 * ms, P99: 1500 * ms, Max: 1500 * ms}},
		{"lost from the start and to the end", "xxaxxx", Figures{
			Asked: 6, Lost: 5, WorstGap: 300 * ms, FirstLost: at(0), LastLost: at(5),
			Outage: 2500 * ms, Nodes: map[string]int{"a": 1},
		}, Figures{P50: Infinite, P95: Infinite, P99: Infinite, Max: Infinite}},
		{"nothing ever", "xxx", Figures{
			Asked: 3, Lost: 3, WorstGap: 200 * ms, FirstLost: at(0), LastLost: at(2), Outage: 2200 * ms,
		}, Figures{P50: Infinite, P95: Infinite, P99: Infinite, Max: Infinite}},
		{"a connection broke", "aRa", Figures{
			Asked: 3, Resets: 1, WorstGap: 100 * ms, Nodes: map[string]int{"a": 3},
		}, well},
		{"the generator was late", "aLa", Figures{
			Asked: 3, WorstGap: 100 * ms, Nodes: map[string]int{"a": 3},
			LateP99: 5 * ms, LateMax: 5 * ms, Void: "the generator was late: p99 5ms, more than 2ms",
		}, well},
		{"the generator lost one", "aua", Figures{
			Asked: 3, Lost: 1, Unsent: 1, WorstGap: 200 * ms, FirstLost: at(1), LastLost: at(1),
			Nodes: map[string]int{"a": 2}, Void: "the generator itself lost 1 of 3 questions",
		}, lossy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			want.P50, want.P95, want.P99, want.Max = tt.base.P50, tt.base.P95, tt.base.P99, tt.base.Max
			if want.Nodes == nil {
				want.Nodes = map[string]int{}
			}
			got := Summarize(play(tt.letters))
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Figures{}, "Clients")); d != "" {
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
