package probe

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// epoch is the time that the steps of verdict tables count from.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns the time ms milliseconds after the epoch.
func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// step is one result of a table and the verdict that is expected after it.
type step struct {
	sent, done int // milliseconds
	cause      Cause
	alive      bool
	level      Level
	fails      int
	passes     int
	ready      bool
}

// result returns the step's result.
func (s step) result() Result {
	return Result{Sent: at(s.sent), Done: at(s.done), Cause: s.cause, Outcome: s.cause.String(), Alive: s.alive}
}

// counts is what a table compares.
type counts struct {
	Level         Level
	Fails, Passes int
	Ready         bool
}

// usual are the rules of the tables.
var usual = Rules{Fall: 3, Rise: 2, SilentAfter: 3 * time.Second, UnknownAfter: 60 * time.Second}

// up are the steps that bring a check up.
var up = []step{
	{0, 1, Passed, true, Unknown, 0, 1, false},
	{1000, 1001, Passed, true, OK, 0, 2, true},
}

// walk is one row of a verdict's table.
type walk struct {
	name  string
	up    bool // the check is brought up first
	steps []step
}

// walkAll takes the steps of each row and compares the verdict after each.
func walkAll(t *testing.T, rows []walk) {
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			var v Verdict
			steps := tt.steps
			if tt.up {
				steps = slices.Concat(up, steps)
			}
			for i, s := range steps {
				v = v.Next(usual, s.result())
				want := counts{s.level, s.fails, s.passes, s.ready}
				got := counts{v.Level, v.Fails, v.Passes, v.Ready}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("unexpected verdict after step %d, %+v (-want +got):\n%s", i, s, diff)
				}
			}
		})
	}
}

// TestVerdict walks the law of rise and fall row by row.
func TestVerdict(t *testing.T) {
	walkAll(t, []walk{
		{"rises after rise passes", true, nil},
		{"a failure breaks the rise", false, []step{
			{0, 1, Passed, true, Unknown, 0, 1, false},
			{1000, 1001, Wrong, true, Unknown, 1, 0, false},
			{2000, 2001, Passed, true, Unknown, 0, 1, false},
			{3000, 3001, Passed, true, OK, 0, 2, true},
		}},
		{"fewer than fall failures change nothing", true, []step{
			{2000, 2500, Silent, false, OK, 1, 0, true},
			{2050, 2550, Silent, false, OK, 2, 0, true},
			{2600, 2601, Passed, true, OK, 0, 1, true},
		}},
		{"refused is dead at once", true, []step{
			{2000, 2000, Refused, false, OK, 1, 0, true},
			{2005, 2005, Refused, false, OK, 2, 0, true},
			{2010, 2010, Refused, false, Dead, 3, 0, false},
		}},
		{"one that is not refused makes it sick", true, []step{
			{2000, 2000, Refused, false, OK, 1, 0, true},
			{2005, 2005, Refused, false, OK, 2, 0, true},
			{2010, 2510, Silent, false, Sick, 3, 0, false},
			{3010, 3010, Refused, false, Sick, 4, 0, false},
			{4010, 4010, Refused, false, Sick, 5, 0, false},
			{4510, 4510, Refused, false, Dead, 6, 0, false},
		}},
		{"silence is sick first and dead after silent_after", true, []step{
			{2000, 2500, Silent, false, OK, 1, 0, true},
			{2050, 2550, Silent, false, OK, 2, 0, true},
			{2100, 2600, Silent, false, Sick, 3, 0, false},
			{4400, 4900, Silent, false, Sick, 4, 0, false},
			{4500, 5000, Silent, false, Dead, 5, 0, false},
		}},
		{"a wrong answer is a sign of life", true, []step{
			{2000, 2500, Silent, false, OK, 1, 0, true},
			{2050, 2550, Silent, false, OK, 2, 0, true},
			{2600, 2600, Wrong, true, Sick, 3, 0, false},
			{5000, 5500, Silent, false, Sick, 4, 0, false},
			{7499, 7999, Silent, false, Sick, 5, 0, false},
			{7500, 8000, Silent, false, Dead, 6, 0, false},
			{8500, 8501, Wrong, true, Sick, 7, 0, false},
		}},
		{"dead gets better by a sign of life only", true, []step{
			{2000, 2000, Refused, false, OK, 1, 0, true},
			{2005, 2005, Refused, false, OK, 2, 0, true},
			{2010, 2010, Refused, false, Dead, 3, 0, false},
			{2015, 2515, Silent, false, Dead, 4, 0, false},
			{3015, 3016, Passed, true, Sick, 0, 1, false},
			{4015, 4016, Refused, false, Sick, 1, 0, false},
			{5015, 5016, Passed, true, Sick, 0, 1, false},
			{6015, 6016, Passed, true, OK, 0, 2, true},
		}},
		{"falls from the start", false, []step{
			{0, 0, Refused, false, Unknown, 1, 0, false},
			{1000, 1000, Refused, false, Unknown, 2, 0, false},
			{2000, 2000, Refused, false, Dead, 3, 0, false},
		}},
	})
}

// TestVerdictOverlapping walks through results that come in another order than
// their probes left in.
func TestVerdictOverlapping(t *testing.T) {
	walkAll(t, []walk{
		{"a failure that left before a pass counts for no fall", true, []step{
			{2000, 2500, Silent, false, OK, 1, 0, true},
			{2050, 2550, Silent, false, OK, 2, 0, true},
			{2110, 2560, Passed, true, OK, 0, 1, true},
			{2100, 2600, Silent, false, OK, 0, 0, true},
			{2105, 2605, Silent, false, OK, 0, 0, true},
			{2105, 2605, Refused, false, OK, 0, 0, true},
			{2120, 2620, Silent, false, OK, 1, 0, true},
		}},
		{"a failure that left before a pass breaks a rise", false, []step{
			{1000, 1001, Passed, true, Unknown, 0, 1, false},
			{500, 1500, Silent, false, Unknown, 0, 0, false},
			{2000, 2001, Passed, true, Unknown, 0, 1, false},
		}},
		{"a pass that left before a failure leaves only that", true, []step{
			{2010, 2011, Wrong, true, OK, 1, 0, true},
			{2060, 2061, Wrong, true, OK, 2, 0, true},
			{2000, 2400, Passed, true, OK, 1, 0, true},
			{2410, 2411, Wrong, true, OK, 2, 0, true},
			{2460, 2461, Wrong, true, Sick, 3, 0, false},
			{2420, 2800, Passed, true, Sick, 1, 0, false},
		}},
		{"the newest pass counts, not the one that came last", true, []step{
			{2100, 2101, Passed, true, OK, 0, 3, true},
			{2050, 2110, Passed, true, OK, 0, 4, true},
			{2080, 2120, Wrong, true, OK, 0, 0, true},
		}},
		{"the newest failure counts, not the one that came last", true, []step{
			{2100, 2101, Wrong, true, OK, 1, 0, true},
			{2050, 2110, Wrong, true, OK, 2, 0, true},
			{2080, 2120, Passed, true, OK, 1, 0, true},
		}},
		{"silence counts from a sign of life that came while it was out", true, []step{
			{2000, 2600, Wrong, true, OK, 1, 0, true},
			{2050, 2650, Silent, false, OK, 2, 0, true},
			{5000, 5550, Silent, false, Sick, 3, 0, false},
			{5050, 5600, Silent, false, Dead, 4, 0, false},
		}},
		{"silence counts from the first probe that went unanswered", true, []step{
			{2100, 2100, Refused, false, OK, 1, 0, true},
			{2000, 2500, Silent, false, OK, 2, 0, true},
			{4400, 4900, Silent, false, Sick, 3, 0, false},
			{4500, 5000, Silent, false, Dead, 4, 0, false},
		}},
	})
}

// TestVerdictUnmade walks through probes that could not be made.
func TestVerdictUnmade(t *testing.T) {
	walkAll(t, []walk{
		{"unmade neither falls nor rises", false, []step{
			{0, 1, Passed, true, Unknown, 0, 1, false},
			{1000, 1001, Unmade, false, Unknown, 0, 0, false},
			{2000, 2001, Passed, true, Unknown, 0, 1, false},
			{3000, 3001, Passed, true, OK, 0, 2, true},
			{4000, 4001, Wrong, true, OK, 1, 0, true},
			{5000, 5001, Unmade, false, OK, 1, 0, true},
			{6000, 6001, Wrong, true, OK, 2, 0, true},
			{7000, 7001, Unmade, true, OK, 2, 0, true},
			{8000, 8001, Wrong, true, Sick, 3, 0, false},
		}},
		{"unmade in a row is unknown, then sick", true, []step{
			{2000, 2000, Unmade, false, OK, 0, 0, true},
			{3000, 3000, Unmade, false, OK, 0, 0, true},
			{4000, 4000, Unmade, false, Unknown, 0, 0, true},
			{63000, 63999, Unmade, false, Unknown, 0, 0, true},
			{64000, 64000, Unmade, false, Sick, 0, 0, false},
			{65000, 65000, Unmade, false, Sick, 0, 0, false},
			{66000, 66001, Passed, true, Sick, 0, 1, false},
			{67000, 67001, Passed, true, OK, 0, 2, true},
		}},
		{"unknown ends with a pass if it has not fallen", true, []step{
			{2000, 2000, Unmade, false, OK, 0, 0, true},
			{3000, 3000, Unmade, false, OK, 0, 0, true},
			{4000, 4000, Unmade, false, Unknown, 0, 0, true},
			{5000, 5001, Wrong, true, Unknown, 1, 0, true},
			{6000, 6001, Passed, true, OK, 0, 1, true},
		}},
		{"falls out of unknown", true, []step{
			{2000, 2000, Unmade, false, OK, 0, 0, true},
			{3000, 3000, Unmade, false, OK, 0, 0, true},
			{4000, 4000, Unmade, false, Unknown, 0, 0, true},
			{5000, 5000, Refused, false, Unknown, 1, 0, true},
			{5005, 5005, Refused, false, Unknown, 2, 0, true},
			{5010, 5010, Refused, false, Dead, 3, 0, false},
			{6000, 6000, Unmade, false, Dead, 3, 0, false},
			{7000, 7000, Unmade, false, Dead, 3, 0, false},
			{8000, 8000, Unmade, false, Unknown, 3, 0, false},
			{9000, 9000, Refused, false, Dead, 4, 0, false},
		}},
	})
}

// TestVerdictLastLife proves that the last sign of life is the latest, whoever
// told of it last.
func TestVerdictLastLife(t *testing.T) {
	v := Verdict{}.Next(usual, Result{Sent: at(0), Done: at(20), Cause: Wrong, Alive: true})
	v = v.Next(usual, Result{Sent: at(1), Done: at(10), Cause: Unmade, Alive: true})
	v = v.Next(usual, Result{Sent: at(30), Done: at(40), Cause: Refused})
	if !v.LastLife.Equal(at(20)) {
		t.Errorf("last sign of life after %v, want 20ms", v.LastLife.Sub(epoch))
	}
}

// TestVerdictReason proves that each level names its evidence.
func TestVerdictReason(t *testing.T) {
	tests := []struct {
		name   string
		cause  Cause
		text   string
		gap    int // milliseconds between probes
		want   string
		wanted Level
	}{
		{"passes", Passed, "NXDOMAIN", 1000, "2 passes in a row", OK},
		{"wrong", Wrong, "SERVFAIL", 50, "3 failures in a row: SERVFAIL", Sick},
		{"refused", Refused, "connection refused", 5, "3 in a row: connection refused", Dead},
		{"silent", Silent, "timeout", 1500, "no sign of life for 3s: timeout", Dead},
		{"unmade", Unmade, "no fd", 1000, "3 probes in a row could not be made: no fd", Unknown},
		{"unmade for long", Unmade, "no fd", 60000, "no probe could be made for 1m0s: no fd", Sick},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v Verdict
			for i := range 4 {
				when := at(i * tt.gap)
				v = v.Next(usual, Result{Sent: when, Done: when, Cause: tt.cause, Outcome: tt.text})
				if v.Reason == tt.want {
					break
				}
			}
			if v.Reason != tt.want || v.Level != tt.wanted {
				t.Errorf("got %v, %q, want %v, %q", v.Level, v.Reason, tt.wanted, tt.want)
			}
		})
	}
}

// TestVerdictDue proves that time alone makes silence dead and unknown sick, at
// exactly the time that Due names, and nothing else.
func TestVerdictDue(t *testing.T) {
	tests := []struct {
		name  string
		cause Cause
		due   int // milliseconds; 0: never
		want  Level
	}{
		{"silent", Silent, 3000, Dead},
		{"unmade", Unmade, 60600, Sick},
		{"wrong", Wrong, 0, 0},
		{"refused", Refused, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Verdict{}
			for i := range 3 {
				v = v.Next(usual, Result{Sent: at(i * 50), Done: at(i*50 + 500), Cause: tt.cause, Alive: tt.cause == Wrong})
			}
			due, ok := v.Due(usual)
			if ok != (tt.due != 0) {
				t.Fatalf("due is %v at %v", ok, due.Sub(epoch))
			}
			if !ok {
				return
			}
			if !due.Equal(at(tt.due)) {
				t.Errorf("due after %v, want %d ms", due.Sub(epoch), tt.due)
			}
			if got := v.At(usual, due.Add(-1)).Level; got != v.Level {
				t.Errorf("level %v before it is due, want %v", got, v.Level)
			}
			v = v.At(usual, due)
			if v.Level != tt.want {
				t.Errorf("level %v when due, want %v", v.Level, tt.want)
			}
			if _, ok := v.Due(usual); ok {
				t.Error("something more is due")
			}
		})
	}
}

// TestVerdictSaw proves what a sign of life beside the results does: it ends a
// silence and a row of refusals, makes a dead one sick, counts towards nothing,
// and stays in the reason until a probe passes.
func TestVerdictSaw(t *testing.T) {
	v := Verdict{}
	silent := func(ms int) {
		v = v.Next(usual, Result{Sent: at(ms - 500), Done: at(ms), Cause: Silent, Outcome: "timeout"})
	}
	want := func(l Level, reason string) {
		t.Helper()
		if v.Level != l || v.Reason != reason {
			t.Fatalf("got %v, %q, want %v, %q", v.Level, v.Reason, l, reason)
		}
	}
	for _, ms := range []int{500, 1500, 2500, 3500} {
		silent(ms)
	}
	want(Dead, "no sign of life for 3s: timeout")
	v = v.Saw(usual, at(3600), "still answers . NS")
	want(Sick, "4 failures in a row: timeout; still answers . NS")
	if v.Passes != 0 || !v.LastLife.Equal(at(3600)) {
		t.Errorf("%d passes, last sign of life after %v", v.Passes, v.LastLife.Sub(epoch))
	}
	silent(4500) // It left at 4000: the silence counts from there.
	silent(6999)
	want(Sick, "6 failures in a row: timeout; still answers . NS")
	silent(7000)
	want(Dead, "no sign of life for 3s: timeout")
	v = v.Next(usual, Result{Sent: at(7100), Done: at(7101), Cause: Passed, Alive: true})
	for _, ms := range []int{8000, 9000, 10000} {
		silent(ms)
	}
	want(Sick, "3 failures in a row: timeout")
}

// TestVerdictLateThenDown has six probes be late together and then fail: the
// third failure is the fall, and those after it are still known as failures and
// not as late answers, for the gray verdict that may stand when the row ends.
func TestVerdictLateThenDown(t *testing.T) {
	rules := usual
	rules.Slow = standard
	var v Verdict
	for range 5 {
		v = v.Next(rules, Result{Sent: at(0), Done: at(1), Cause: Passed})
	}
	const probes = 6
	var sampled [probes]bool
	for i := range probes {
		v, sampled[i] = v.Late(rules, at(1000+50*i))
	}
	for i, s := range sampled {
		if !s {
			t.Fatalf("probe %d was no sample when it was late", i)
		}
		v = v.Next(rules, Result{Sent: at(950 + 50*i), Done: at(1450 + 50*i), Cause: Silent, Outcome: "timeout",
			Late: true, Sampled: s})
	}
	if _, s := v.Late(rules, at(2000)); s || v.Level != Sick {
		t.Errorf("level %v; a late probe counts though the check is down: %v", v.Level, s)
	}
	if v.slow.counts != [2]int{failed: probes} {
		t.Errorf("samples by fault %v, want %d failures", v.slow.counts, probes)
	}
}

// TestVerdictSawSlow has a server that drops most of what it is asked, and
// answers something else: the reason says what, over the answers in between,
// until the verdict ends.
func TestVerdictSawSlow(t *testing.T) {
	rules := usual
	rules.Slow = standard
	var v Verdict
	now := 0
	next := func(res Result) {
		res.Sent, res.Done = at(now), at(now)
		v = v.Next(rules, res)
		now += 500
	}
	for range 5 {
		next(Result{Cause: Passed})
	}
	for range 10 {
		next(Result{Cause: Silent, Outcome: "timeout"})
		v = v.Saw(rules, at(now), "answers over TCP")
		next(Result{Cause: Passed})
	}
	if v.Level != Sick || !strings.HasSuffix(v.Reason, ": timeout; answers over TCP") {
		t.Errorf("level %v, reason %q", v.Level, v.Reason)
	}
	for v.Level == Sick {
		next(Result{Cause: Passed})
	}
	for range 5 {
		next(Result{Cause: Wrong, Outcome: "SERVFAIL"})
	}
	if v.Level != Sick || strings.Contains(v.Reason, "TCP") {
		t.Errorf("later: level %v, reason %q", v.Level, v.Reason)
	}
}
