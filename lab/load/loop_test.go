package load

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load/stub"
)

// fake is a wire without sockets: each server does what it is told about every
// question, in the bubble's time.
type fake struct {
	start   time.Time
	answers func(r request, sent time.Duration) (after time.Duration, e event)
	sends   []sending
	drops   int
	coming  []event
	bell    chan struct{}
	busy    time.Duration // how long each send takes
	fails   error
	spills  bool
	leaks   bool // what was dropped is told all the same
}

// sending is one question as the fake saw it.
type sending struct {
	at     time.Duration
	client int32
	server uint8
	entry  int32
}

// send implements wire.
func (f *fake) send(t *talk, r request) error {
	if f.fails != nil {
		return f.fails
	}
	time.Sleep(f.busy)
	now := time.Since(f.start)
	f.sends = append(f.sends, sending{now, r.client, r.server, r.entry})
	t.via, t.port = byUDP, 1000
	after, e := f.answers(r, now)
	if after >= 0 {
		e.place, e.at = r.place, now+after
		f.coming = append(f.coming, e)
	}
	return nil
}

// silence implements wire.
func (f *fake) silence(t *talk, _ place) {
	if f.spills {
		t.state = spilled
	}
}

// drop implements wire.
func (f *fake) drop(_ *talk, p place) {
	f.drops++
	if !f.leaks {
		f.coming = slices.DeleteFunc(f.coming, func(e event) bool { return e.place == p })
	}
}

// wait implements wire.
func (f *fake) wait(until time.Duration, into []event) []event {
	for _, e := range f.coming {
		until = min(until, e.at)
	}
	select {
	case <-time.After(until - time.Since(f.start)):
	case <-f.bell:
	}
	var later []event
	for _, e := range f.coming {
		if e.at <= time.Since(f.start) {
			into = append(into, e)
		} else {
			later = append(later, e)
		}
	}
	f.coming = later
	return into
}

// wake implements wire.
func (f *fake) wake() { f.bell <- struct{}{} }

// close implements wire.
func (f *fake) close() {}

// silent answers nothing.
func silent(request, time.Duration) (time.Duration, event) { return -1, event{} }

// after answers everything well after a while.
func after(d time.Duration) func(request, time.Duration) (time.Duration, event) {
	return func(request, time.Duration) (time.Duration, event) { return d, event{state: answered} }
}

// drive runs a loop over the fake in a bubble's time and returns its records.
func drive(t *testing.T, ctx context.Context, c Config, f *fake) []Record {
	t.Helper()
	if len(c.Servers) == 0 {
		c.Servers = one(netip.MustParseAddrPort("192.0.2.1:53"))
	}
	c = c.withDefaults()
	mix, err := templates(c.Mix)
	if err != nil {
		t.Fatal(err)
	}
	f.start, f.bell = time.Now(), make(chan struct{}, 1)
	n := newNames()
	results := newCollector(c, mix, f.start, n)
	l := newLoop(c, mix, f.start, f, n, results)
	stop := context.AfterFunc(ctx, l.stop)
	defer stop()
	l.run()
	return results.wait()
}

// TestOpenLoop shows that a question which hangs delays no other, and that its
// end is awaited though the run is over.
func TestOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := &fake{answers: func(_ request, sent time.Duration) (time.Duration, event) {
			if sent == 300*time.Millisecond {
				return -1, event{}
			}
			return 10 * time.Millisecond, event{state: answered}
		}}
		records := drive(t, t.Context(), Config{Rate: 10, Duration: time.Second, Stub: stub.None(5 * time.Second)}, f)
		var got, want []time.Duration
		for i, r := range records {
			if r.Seq != i || !r.Intended.Equal(r.Sent) {
				t.Fatalf("record %d has number %d, intended %v, sent %v", i, r.Seq, r.Intended, r.Sent)
			}
			got = append(got, r.Sent.Sub(start))
			want = append(want, time.Duration(i)*100*time.Millisecond)
		}
		if d := cmp.Diff(want, got); len(got) != 10 || d != "" {
			t.Errorf("unexpected times of sending (-want +got):\n%s", d)
		}
		if d := cmp.Diff(5300*time.Millisecond, time.Since(start)); d != "" {
			t.Errorf("unexpected end (-want +got):\n%s", d)
		}
		if !records[3].Lost() || records[4].Lost() || f.drops != 10 {
			t.Errorf("unexpected outcomes: %v, %v, %d drops", records[3].Outcome, records[4].Outcome, f.drops)
		}
	})
}

// TestLateness shows that a generator which cannot keep up says so: questions
// are sent as fast as it goes, and count from when they were due.
func TestLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: after(0), busy: 150 * time.Millisecond}
		records := drive(t, t.Context(), Config{Rate: 10, Duration: time.Second}, f)
		if len(records) != 10 {
			t.Fatalf("%d records, want all 10", len(records))
		}
		for i, r := range records {
			if want := 150*time.Millisecond + time.Duration(i)*50*time.Millisecond; r.Late() != want || r.Felt() < want {
				t.Errorf("question %d: late %s, felt %s, want %s", i, r.Late(), r.Felt(), want)
			}
		}
		if f := Summarize(records); f.Void == "" || f.LateMax != 600*time.Millisecond {
			t.Errorf("void %q, latest %s", f.Void, f.LateMax)
		}
	})
}

// TestRounding shows that rounding does not add up over a run.
func TestRounding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := drive(t, t.Context(), Config{Rate: 3, Duration: 100 * time.Second}, &fake{answers: after(0)})
		if len(records) != 300 {
			t.Errorf("asked %d questions in 100 s at 3 a second", len(records))
		}
		first, last := records[0].Intended, records[len(records)-1].Intended
		if got := last.Sub(first).Round(time.Millisecond); got != 99667*time.Millisecond {
			t.Errorf("last question %v after the first", got)
		}
	})
}

// TestCancelled shows that a run which is ended counts what it has sent.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
		defer cancel()
		told := 0
		records := drive(t, ctx, Config{Rate: 10, Record: func(Record) { told++ }}, &fake{answers: after(time.Second)})
		if len(records) != 5 || told != 5 {
			t.Errorf("%d records, %d told, want 5 of each", len(records), told)
		}
		if f := Summarize(records); f.Lost != 0 {
			t.Errorf("%d lost, want none: they were answered after the end", f.Lost)
		}
	})
}

// TestPatience shows that what is under way when patience ends is lost then.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		records := drive(t, t.Context(), Config{Rate: 10, Duration: time.Second, Stub: stub.Resolved(), Patience: 3 * time.Second},
			&fake{answers: silent})
		if took := time.Since(start); took != 3900*time.Millisecond || len(records) != 10 {
			t.Errorf("%d records after %s", len(records), took)
		}
		for _, r := range records {
			if r.Outcome != Timeout || r.Ended.Sub(start) != 3900*time.Millisecond {
				t.Errorf("record %+v", r)
			}
		}
	})
}

// TestClientsTakeTurns shows who asks what: every client in turn, each through
// the whole mix, neighbours at different names.
func TestClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: after(0)}
		records := drive(t, t.Context(), Config{Rate: 10, Duration: 800 * time.Millisecond, Clients: make([]Network, 2),
			Mix: Mix{"a.", "b.", "c."}}, f)
		var got []string
		for _, r := range records {
			got = append(got, fmt.Sprintf("%d %s", r.Client, r.Name))
		}
		want := []string{"0 a.", "1 b.", "0 b.", "1 c.", "0 c.", "1 a.", "0 a.", "1 b."}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("unexpected questions (-want +got):\n%s", d)
		}
	})
}

// TestStubIsDriven shows that a lookup goes to the servers that its stub names,
// when it names them, and is one record with all its attempts.
func TestStubIsDriven(t *testing.T) {
	servers := []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:53"), netip.MustParseAddrPort("192.0.2.2:53")}
	second := func(r request, _ time.Duration) (time.Duration, event) {
		if r.server == 0 {
			return -1, event{}
		}
		return 3 * time.Millisecond, event{state: answered}
	}
	tests := []struct {
		name    string
		stub    stub.Model
		answers func(request, time.Duration) (time.Duration, event)
		sends   string
		want    Answer
		took    time.Duration

		patience int // seconds
	}{
		{"none", stub.None(time.Second), second, "0s>0", Answer{Outcome: Timeout, Attempts: 1, Server: "192.0.2.1"}, time.Second, 0},
		{"glibc", stub.Glibc(), second, "0s>0 5s>1", Answer{Outcome: Answered, Attempts: 2, Server: "192.0.2.2"}, 5003 * time.Millisecond, 0},
		{"parallel", stub.Parallel(), second, "0s>0 0s>1", Answer{Outcome: Answered, Attempts: 2, Server: "192.0.2.2"}, 3 * time.Millisecond, 0},
		{"glibc, nobody", stub.Glibc(), silent, "0s>0 5s>1 10s>0 15s>1", Answer{Outcome: Timeout, Attempts: 4, Server: "192.0.2.2"}, 20 * time.Second, 0},
		{"two, late", stub.Two(), func(r request, _ time.Duration) (time.Duration, event) {
			return 3*time.Second - time.Duration(r.server)*500*time.Millisecond, event{state: answered}
		}, "0s>0 2s>1", Answer{Outcome: Answered, Attempts: 2, Server: "192.0.2.1"}, 3 * time.Second, 0},
		{"resolved, late, and dropped with its port", stub.Resolved(), func(r request, _ time.Duration) (time.Duration, event) {
			return 7*time.Second - time.Duration(r.server)*time.Second, event{state: answered}
		}, "0s>0 5s>1 10s>0 15s>1", Answer{Outcome: Timeout, Attempts: 4, Server: "192.0.2.2"}, 18 * time.Second, 18},
		{"two, refused and dead", stub.Two(), func(r request, _ time.Duration) (time.Duration, event) {
			if r.server == 1 {
				return -1, event{}
			}
			return 0, event{state: refused}
		}, "0s>0 0s>1", Answer{Outcome: Refused, Attempts: 2, Server: "192.0.2.1"}, 2 * time.Second, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answers: tt.answers}
				r := drive(t, t.Context(), Config{Rate: 1, Duration: time.Second, Servers: servers, Stub: tt.stub,
					Patience: time.Duration(tt.patience) * time.Second}, f)[0]
				var sends string
				for _, s := range f.sends {
					sends += fmt.Sprintf(" %s>%d", s.at, s.server)
				}
				if d := cmp.Diff(" "+tt.sends, sends); d != "" {
					t.Errorf("unexpected questions (-want +got):\n%s", d)
				}
				got := Answer{Outcome: r.Outcome, Attempts: r.Attempts, Server: r.Server}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("unexpected record (-want +got):\n%s", d)
				}
				if took := r.Ended.Sub(r.Intended); took != tt.took {
					t.Errorf("took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// TestUnsendable shows that a server which cannot be asked counts as refused,
// for all servers in turn, and that the end is no endless repetition.
func TestUnsendable(t *testing.T) {
	for _, m := range stub.Models() {
		t.Run(m.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{fails: fmt.Errorf("%w: no port", errOwn)}
				servers := []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:53"), netip.MustParseAddrPort("192.0.2.2:53")}
				r := drive(t, t.Context(), Config{Rate: 1, Duration: time.Second, Servers: servers, Stub: m}, f)[0]
				if r.Outcome != Unsent || r.Attempts != 0 || !r.Sent.IsZero() || r.Error == "" {
					t.Errorf("record %+v, want it unsent", r)
				}
			})
		})
	}
}

// TestSpilled shows that an answer for which the generator may have left no room
// is its own loss, and makes the run void.
func TestSpilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := drive(t, t.Context(), Config{Rate: 1, Duration: 2 * time.Second}, &fake{answers: silent, spills: true})
		if f := Summarize(records); records[0].Outcome != Spilled || f.Unsent != 2 || f.Lost != 2 || f.Void == "" {
			t.Errorf("outcome %s, own %d, lost %d, void %q", records[0].Outcome, f.Unsent, f.Lost, f.Void)
		}
	})
}

// TestLateTold shows that what a wire tells of a lookup that ended is not taken
// for one that has its place now.
func TestLateTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{leaks: true, answers: func(_ request, sent time.Duration) (time.Duration, event) {
			if sent == 0 {
				return 1500 * time.Millisecond, event{state: answered}
			}
			return -1, event{}
		}}
		records := drive(t, t.Context(), Config{Rate: 1, Duration: 2 * time.Second, Stub: stub.None(time.Second)}, f)
		if len(records) != 2 || records[0].Outcome != Timeout || records[1].Outcome != Timeout {
			t.Errorf("records %+v, want two timeouts", records)
		}
	})
}
