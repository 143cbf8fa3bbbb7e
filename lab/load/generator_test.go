package load

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sleeper is an Ask whose question number n takes what it is told.
func sleeper(takes func(n int) (time.Duration, Outcome)) Ask {
	var asked atomic.Int64
	return func(Question) Answer {
		d, outcome := takes(int(asked.Add(1)) - 1)
		sent := time.Now()
		time.Sleep(d)
		return Answer{Sent: sent, Ended: time.Now(), Outcome: outcome}
	}
}

// TestOpenLoop shows that a question which hangs delays no other, and that its
// end is awaited though the run is over.
func TestOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		records, err := Run(t.Context(), Config{
			Rate: 10, Duration: time.Second,
			Ask: sleeper(func(n int) (time.Duration, Outcome) {
				if n == 3 {
					return 5 * time.Second, Timeout
				}
				return 10 * time.Millisecond, Answered
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		for i, r := range records {
			if r.Seq != i {
				t.Fatalf("record %d has number %d", i, r.Seq)
			}
			got = append(got, r.Sent.Sub(start))
		}
		var want []time.Duration
		for i := range 10 {
			want = append(want, time.Duration(i)*100*time.Millisecond)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("unexpected times of sending (-want +got):\n%s", d)
		}
		if d := cmp.Diff(5300*time.Millisecond, time.Since(start)); d != "" {
			t.Errorf("unexpected end (-want +got):\n%s", d)
		}
		if !records[3].Lost() || records[4].Lost() {
			t.Errorf("unexpected outcomes: %v, %v", records[3].Outcome, records[4].Outcome)
		}
	})
}

// TestRunIrrationalRate shows that rounding does not add up over a run.
func TestRunIrrationalRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records, err := Run(t.Context(), Config{
			Rate: 3, Duration: 100 * time.Second,
			Ask: sleeper(func(int) (time.Duration, Outcome) { return 0, Answered }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(records) != 300 {
			t.Errorf("asked %d questions in 100 s at 3 a second", len(records))
		}
		first, last := records[0].Intended, records[len(records)-1].Intended
		if got := last.Sub(first).Round(time.Millisecond); got != 99667*time.Millisecond {
			t.Errorf("last question %v after the first", got)
		}
	})
}

// TestRunCancelled shows that a run that is ended counts what it has sent.
func TestRunCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
		defer cancel()
		told := 0
		records, err := Run(ctx, Config{
			Rate: 10, Record: func(Record) { told++ },
			Ask: sleeper(func(int) (time.Duration, Outcome) { return time.Second, Answered }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(records) != 5 || told != 5 {
			t.Errorf("%d records, %d told, want 5 of each", len(records), told)
		}
		if f := Summarize(records); f.Lost != 0 {
			t.Errorf("%d lost, want none: they were answered after the end", f.Lost)
		}
	})
}

func TestRunRefuses(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"no rate", Config{Ask: func(Question) Answer { return Answer{} }}, "rate 0"},
		{"nobody to ask", Config{Rate: 1}, "nobody to ask"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Run(t.Context(), tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestHousehold shows which names repeat and which never do.
func TestHousehold(t *testing.T) {
	count := map[string]int{}
	m := Household()
	for i := range 100 * len(m) {
		count[m.name(i)]++
	}
	var fresh, lan, repeated int
	for name, n := range count {
		switch {
		case n > 1:
			repeated++
		case strings.HasSuffix(name, ".fresh.internet.example."):
			fresh++
		case strings.HasSuffix(name, ".lan."):
			lan++
		}
	}
	if repeated != 7 || fresh != 200 || lan != 100 {
		t.Errorf("%d names repeat, %d fresh, %d new of lan; want 7, 200, 100", repeated, fresh, lan)
	}
}
