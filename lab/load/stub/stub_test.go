package stub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// says is what a scripted server does about every question: an rcode after a
// delay; or no answer, or a refusal by ICMP, or a broken connection.
type says struct {
	rcode  int
	after  time.Duration
	silent bool
	icmp   bool
	broken bool
}

// The usual servers.
var (
	well   = says{after: 3 * time.Millisecond}
	dead   = says{silent: true}
	closed = says{icmp: true}
	reset  = says{broken: true}
	fails  = says{rcode: servFail, after: 3 * time.Millisecond}
	denies = says{rcode: refused, after: 3 * time.Millisecond}
	nx     = says{rcode: nxDomain, after: 3 * time.Millisecond}
	form   = says{rcode: formErr, after: 3 * time.Millisecond}
)

// slow answers well after a while.
func slow(d time.Duration) says { return says{after: d} }

// play drives one lookup that begins at a moment, against servers that do always
// the same, and writes down what the stub did: "0 >0" asks server 0 at once, "5s
// >1 drop" asks server 1 after 5 s and closes the other ports, "5.003s =1" ends
// with server 1's answer, "10s =none" without any.
func play(t *testing.T, s Stub, begin time.Duration, servers ...says) string {
	t.Helper()
	var l Lookup
	var out []string
	var arriving []Event // in no order
	deadline := time.Duration(-1)
	lost := func(server int) {
		var kept []Event
		for _, e := range arriving {
			if e.Server != server {
				kept = append(kept, e)
			}
		}
		arriving = kept
	}
	next := Event{Kind: Begin, Now: begin}
	for range 1000 {
		now := next.Now
		step := s.Next(&l, next)
		if step.End {
			from := "none"
			if step.From != Nobody {
				from = fmt.Sprint(step.From)
			}
			return strings.Join(append(out, fmt.Sprintf("%s =%s", now-begin, from)), ", ")
		}
		if step.Wait > 0 {
			deadline = now + step.Wait
		}
		for i, server := range servers {
			switch {
			case step.Send.Has(i):
				drop := ""
				if step.Drop {
					drop = " drop"
				}
				out = append(out, fmt.Sprintf("%s >%d%s", now-begin, i, drop))
				if !server.silent {
					arriving = append(arriving, server.event(i, now))
				}
			case step.Drop:
				lost(i)
			}
		}
		next = Event{Kind: Deadline, Now: deadline}
		first := -1
		for i, e := range arriving {
			if e.Now < next.Now || deadline < 0 {
				next, first = e, i
			}
		}
		if first >= 0 {
			arriving = append(arriving[:first], arriving[first+1:]...)
		}
	}
	t.Fatalf("the lookup does not end: %s", strings.Join(out, ", "))
	return ""
}

// event is what comes back of a question.
func (s says) event(server int, now time.Duration) Event {
	e := Event{Kind: Answer, Now: now + s.after, Server: server, Rcode: s.rcode}
	switch {
	case s.icmp:
		e.Kind = Refused
	case s.broken:
		e.Kind = Broken
	}
	return e
}

// TestLookups plays one lookup of a stub that knows nothing yet.
func TestLookups(t *testing.T) {
	tests := []struct {
		name    string
		model   Model
		servers []says
		want    string
	}{
		{"none", None(2 * time.Second), []says{well}, "0s >0, 3ms =0"},
		{"none, dead", None(2 * time.Second), []says{dead, well}, "0s >0, 2s =none"},
		{"none, failing", None(2 * time.Second), []says{fails, well}, "0s >0, 3ms =0"},
		{"none, closed", None(2 * time.Second), []says{closed}, "0s >0, 0s =0"},

		{"two", Two(), []says{well, well}, "0s >0, 3ms =0"},
		{"two, first dead", Two(), []says{dead, well}, "0s >0, 2s >1, 2.003s =1"},
		{"two, both dead", Two(), []says{dead, dead, well}, "0s >0, 2s >1, 4s =none"},
		{"two, the first is late and counts", Two(), []says{slow(2500 * time.Millisecond), dead}, "0s >0, 2s >1, 2.5s =0"},
		{"two, the first is late and bad", Two(), []says{{rcode: servFail, after: 3 * time.Second}, dead}, "0s >0, 2s >1, 4s =0"},
		{"two, with one", Two(), []says{dead}, "0s >0, 2s =none"},

		// As measured of glibc 2.36 with getent: 5.0 s, 10.0 s, and 20 s with two.
		{"glibc", Glibc(), []says{well, well}, "0s >0, 3ms =0"},
		{"glibc, first dead", Glibc(), []says{dead, well}, "0s >0, 5s >1, 5.003s =1"},
		{"glibc, one and dead", Glibc(), []says{dead}, "0s >0, 5s >0, 10s =none"},
		{"glibc, both dead", Glibc(), []says{dead, dead}, "0s >0, 5s >1, 10s >0, 15s >1, 20s =none"},
		{"glibc, two of three dead", Glibc(), []says{dead, dead, well}, "0s >0, 5s >1, 8s >2, 8.003s =2"},
		{"glibc, three dead", Glibc(), []says{dead, dead, dead, well},
			"0s >0, 5s >1, 8s >2, 14s >0, 19s >1, 22s >2, 28s =none"},
		{"glibc, failing", Glibc(), []says{fails, well}, "0s >0, 3ms >1, 6ms =1"},
		{"glibc, refusing", Glibc(), []says{denies, well}, "0s >0, 3ms >1, 6ms =1"},
		{"glibc, all failing", Glibc(), []says{fails, fails}, "0s >0, 3ms >1, 6ms >0, 9ms >1, 12ms =1"},
		{"glibc, closed", Glibc(), []says{closed, well}, "0s >0, 0s >1 drop, 3ms =1"},
		{"glibc, no such name", Glibc(), []says{nx, well}, "0s >0, 3ms =0"},
		{"glibc, late, and heard when it is asked again", Glibc(), []says{slow(6 * time.Second)}, "0s >0, 5s >0, 6s =0"},
		{"glibc, late, and kept by the kernel", Glibc(), []says{slow(6 * time.Second), dead}, "0s >0, 5s >1, 10s =0"},
		{"glibc, late, and lost with its port", Glibc(), []says{slow(6 * time.Second), {icmp: true, after: 3 * time.Second}},
			"0s >0, 5s >1, 8s >0 drop, 13s >1, 16s =1"},

		{"parallel", Parallel(), []says{well, well}, "0s >0, 0s >1, 3ms =0"},
		{"parallel, first dead", Parallel(), []says{dead, well}, "0s >0, 0s >1, 3ms =1"},
		{"parallel, first failing", Parallel(), []says{fails, slow(time.Second)}, "0s >0, 0s >1, 500ms >1, 1s =1"},
		{"parallel, all failing", Parallel(), []says{fails, closed}, "0s >0, 0s >1, 3ms =0"},
		{"parallel, all dead", Parallel(), []says{dead, dead},
			"0s >0, 0s >1, 500ms >0, 500ms >1, 1.5s >0, 1.5s >1, 3.5s =none"},

		{"apple", Apple(), []says{well, well}, "0s >0, 3ms =0"},
		{"apple, first dead", Apple(), []says{dead, well}, "0s >0, 1s >0, 3s >1, 3.003s =1"},
		{"apple, the first is late and counts", Apple(), []says{slow(3500 * time.Millisecond), dead},
			"0s >0, 1s >0, 3s >1, 3.5s =0"},
		{"apple, both dead", Apple(), []says{dead, dead},
			"0s >0, 1s >0, 3s >1, 4s >1, 6s >0, 10s >0, 18s >1, 30s =none"},
		{"apple, one and dead", Apple(), []says{dead}, "0s >0, 1s >0, 3s >0, 7s >0, 15s >0, 30s =none"},
		{"apple, failing", Apple(), []says{fails, well}, "0s >0, 3ms >1, 6ms =1"},
		{"apple, all failing", Apple(), []says{fails, fails}, "0s >0, 3ms >1, 6ms =0"},
		{"apple, refusal gives way to failure", Apple(), []says{denies, fails}, "0s >0, 3ms >1, 6ms =1"},
		{"apple, does not hear ICMP", Apple(), []says{closed, well}, "0s >0, 1s >0, 3s >1, 3.003s =1"},
		{"apple, connection broken", Apple(), []says{reset, well}, "0s >0, 0s >1, 3ms =1"},
		{"apple, all connections broken", Apple(), []says{reset, reset}, "0s >0, 0s >1, 1s >1, 3s >0, 7s >0, 15s >1, 30s =0"},

		{"resolved", Resolved(), []says{well, well}, "0s >0, 3ms =0"},
		{"resolved, first dead", Resolved(), []says{dead, well}, "0s >0, 5s >1 drop, 5.003s =1"},
		{"resolved, failing", Resolved(), []says{fails, well},
			"0s >0, 3ms >0 drop, 6ms >0 drop, 9ms >1 drop, 12ms =1"},
		{"resolved, all failing", Resolved(), []says{fails, fails},
			"0s >0, 3ms >0 drop, 6ms >0 drop, 9ms >1 drop, 12ms >1 drop, 15ms >1 drop, 18ms =1"},
		{"resolved, no EDNS", Resolved(), []says{form, well}, "0s >0, 3ms >0 drop, 6ms >1 drop, 9ms =1"},
		{"resolved, refusing", Resolved(), []says{denies, well}, "0s >0, 3ms >1 drop, 6ms =1"},
		{"resolved, one and refusing", Resolved(), []says{denies}, "0s >0, 3ms =0"},
		{"resolved, closed", Resolved(), []says{closed, well}, "0s >0, 0s >1 drop, 3ms =1"},
		{"resolved, late, and lost with its port", Resolved(), []says{slow(6 * time.Second), dead, well},
			"0s >0, 5s >1 drop, 10s >2 drop, 10.003s =2"},

		{"android", Android(), []says{well, well}, "0s >0, 3ms =0"},
		{"android, first dead", Android(), []says{dead, well}, "0s >0, 5s >1, 5.003s =1"},
		{"android, both dead", Android(), []says{dead, dead}, "0s >0, 5s >1, 10s >0, 15s >1, 20s =none"},
		{"android, three of four dead", Android(), []says{dead, dead, dead, well},
			"0s >0, 5s >1, 7.5s >2, 12.5s >3, 12.503s =3"},
		{"android, failing", Android(), []says{fails, well}, "0s >0, 3ms >1, 6ms =1"},
		{"android, closed", Android(), []says{closed, well}, "0s >0, 0s >1 drop, 3ms =1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := play(t, tt.model.New(len(tt.servers)), time.Hour, tt.servers...)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("unexpected lookup (-want +got):\n%s", d)
			}
		})
	}
}

// TestResolvedPatience shows that a lookup of systemd-resolved ends after two
// minutes and 24 attempts.
func TestResolvedPatience(t *testing.T) {
	got := play(t, Resolved().New(2), 0, dead, dead)
	if n := strings.Count(got, ">"); n != 24 || !strings.HasSuffix(got, "2m0s =none") {
		t.Errorf("%d attempts: %s", n, got)
	}
}

// TestResolvedStays shows that all lookups share the current server: one that
// meets silence moves all, and nobody returns until the new one fails.
func TestResolvedStays(t *testing.T) {
	s := Resolved().New(2)
	first := play(t, s, 0, dead, well)
	second := play(t, s, time.Minute, well, well)
	third := play(t, s, 2*time.Minute, well, denies)
	fourth := play(t, s, 3*time.Minute, well, well)
	want := []string{"0s >0, 5s >1 drop, 5.003s =1", "0s >1, 3ms =1", "0s >1, 3ms >0 drop, 6ms =0", "0s >0, 3ms =0"}
	if d := cmp.Diff(want, []string{first, second, third, fourth}); d != "" {
		t.Errorf("unexpected lookups (-want +got):\n%s", d)
	}
}

// TestResolvedTogether shows that two lookups under way which both met silence
// move the current server once.
func TestResolvedTogether(t *testing.T) {
	s := Resolved().New(3)
	var a, b Lookup
	s.Next(&a, Event{Kind: Begin})
	s.Next(&b, Event{Kind: Begin})
	one := s.Next(&a, Event{Kind: Deadline, Now: 5 * time.Second})
	two := s.Next(&b, Event{Kind: Deadline, Now: 5 * time.Second})
	if one.Send != only(1) || two.Send != only(1) {
		t.Errorf("sent to %b and %b, want both to server 1", one.Send, two.Send)
	}
}

// TestApplePenalty shows that a silent server is left alone for a minute, and
// then tried first again.
func TestApplePenalty(t *testing.T) {
	s := Apple().New(2)
	var got []string
	for _, at := range []time.Duration{0, 4 * time.Second, 62 * time.Second, 64 * time.Second} {
		got = append(got, play(t, s, at, dead, well))
	}
	// The penalty began at 3 s.
	want := []string{"0s >0, 1s >0, 3s >1, 3.003s =1", "0s >1, 3ms =1", "0s >1, 3ms =1", "0s >0, 1s >0, 3s >1, 3.003s =1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("unexpected lookups (-want +got):\n%s", d)
	}
}

// TestAppleSparesWhoAnswersOthers shows that a server is not penalised for a
// silence if a later lookup got an answer from it.
func TestAppleSparesWhoAnswersOthers(t *testing.T) {
	s := Apple().New(2)
	var silent, good Lookup
	s.Next(&silent, Event{Kind: Begin})
	s.Next(&silent, Event{Kind: Deadline, Now: time.Second})
	s.Next(&good, Event{Kind: Begin, Now: 2 * time.Second})
	s.Next(&good, Event{Kind: Answer, Now: 2 * time.Second, Server: 0})
	if step := s.Next(&silent, Event{Kind: Deadline, Now: 3 * time.Second}); step.Send != only(0) {
		t.Errorf("the silent lookup goes on with %b, want server 0, which has no penalty", step.Send)
	}
}

// TestAndroidMemory shows that a server of which 3 in 4 questions fail is left
// out after eight, and for half an hour.
func TestAndroidMemory(t *testing.T) {
	s := Android().New(2)
	for i := range minSamples {
		got := play(t, s, time.Duration(i)*time.Minute, dead, well)
		if got != "0s >0, 5s >1, 5.003s =1" {
			t.Fatalf("lookup %d: %s", i, got)
		}
	}
	// The last sample was taken 7 min 5 s after the begin.
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{
		{8 * time.Minute, "0s >1, 3ms =1"},
		{37 * time.Minute, "0s >1, 3ms =1"},
		{38 * time.Minute, "0s >0, 5s >1, 5.003s =1"},
	} {
		if got := play(t, s, tt.at, dead, well); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.at, got, tt.want)
		}
	}
}

// TestAndroidAllBad shows that all servers are asked when none is any good.
func TestAndroidAllBad(t *testing.T) {
	s := Android().New(2)
	for i := range 20 {
		if got := play(t, s, time.Duration(i)*time.Minute, fails, fails); got != "0s >0, 3ms >1, 6ms >0, 9ms >1, 12ms =1" {
			t.Fatalf("lookup %d: %s", i, got)
		}
	}
}

// TestAndroidForgets shows that the oldest samples go as new ones come.
func TestAndroidForgets(t *testing.T) {
	m := newMemory(1)
	for range maxSamples {
		m.add(0, succeeded, 0)
	}
	for i := range maxSamples {
		if usable := m.servers[0].usable(0); usable != (i <= 48) {
			t.Fatalf("after %d failures of 64 usable is %v", i, usable)
		}
		m.add(0, timedOut, 0)
	}
}

func TestByName(t *testing.T) {
	for _, m := range Models() {
		got, err := ByName(m.Name)
		if err != nil || got.Title != m.Title || m.Title == "" {
			t.Errorf("%q: found %q with title %q, %v", m.Name, got.Name, got.Title, err)
		}
	}
	if _, err := ByName("bsd"); err == nil || !strings.Contains(err.Error(), "none, two, glibc, parallel, apple, resolved, android") {
		t.Errorf("error %v, want one with all names", err)
	}
}
