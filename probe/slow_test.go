package probe

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// standard is the test with its defaults.
var standard = SlowTest{}.completed()

// feed adds samples: '.' a good one, 'l' a late one, 'f' a failed one, each gap
// milliseconds after the last, and returns the time of the next.
func feed(e evidence, t SlowTest, from, gap int, samples string) (evidence, int) {
	for _, s := range samples {
		switch s {
		case '.':
			e = e.good(t, at(from))
		case 'l':
			e = e.bad(t, late, at(from))
		case 'f':
			e = e.bad(t, failed, at(from))
		}
		from += gap
	}
	return e, from
}

// repeat returns a text n times over.
func repeat(text string, n int) string {
	all := ""
	for range n {
		all += text
	}
	return all
}

// TestEvidence proves when samples make a verdict and what it names.
func TestEvidence(t *testing.T) {
	tests := []struct {
		name    string
		test    SlowTest
		gap     int // milliseconds
		samples string
		stuck   bool
		level   Level // if stuck
	}{
		{"two bad ones of three", standard, 1000, repeat("ll.", 12), true, Slow},
		{"one bad one of four", standard, 1000, repeat("l...", 5), false, 0},
		{"one bad one of eight", standard, 1000, repeat("l.......", 1000), false, 0},
		{"bad ones that alternate", standard, 1000, repeat("l.", 9), true, Slow},
		{"all bad, seven", standard, 1000, "lllllll", true, Slow},
		{"all bad, six", standard, 1000, "llllll", false, 0},
		{"failures", standard, 1000, "fffffff", true, Sick},
		{"more late ones than failures", standard, 1000, "lflflfl", true, Slow},
		{"more failures than late ones", standard, 1000, "flflflf", true, Sick},
		{"all bad for less than a second", standard, 50, repeat("l", 20), false, 0},
		{"all bad for a second", standard, 50, repeat("l", 21), true, Slow},
		{"all bad for a second, but few", standard, 200, repeat("l", 6), false, 0},
		{"good ones between, within a second", standard, 50, repeat("llll.", 4), false, 0},
		{"a light threshold wants a second too", SlowTest{0.05, 0.3, 1}, 100, repeat("l", 10), false, 0},
		{"a light threshold wants three slots", SlowTest{0.05, 0.3, 1}, 1000, "ll", false, 0},
		{"a light threshold", SlowTest{0.05, 0.3, 1}, 1000, "lll", true, Slow},
		{"a heavy threshold", SlowTest{0.05, 0.3, 100}, 1000, repeat("l", 55), false, 0},
		{"many a second, 30 % bad", standard, 20, repeat("..l..l.l..", 30), true, Slow},
		{"many a second, 5 % bad", standard, 20, repeat("...................l", 3000), false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := feed(evidence{}, tt.test, 0, tt.gap, tt.samples)
			if e.stuck != tt.stuck {
				t.Fatalf("a verdict: %v, want %v: %+v", e.stuck, tt.stuck, e)
			}
			if e.stuck && e.level() != tt.level {
				t.Errorf("%v, want %v", e.level(), tt.level)
			}
		})
	}
}

// TestEvidenceBack proves that the way back takes as many good samples as weigh
// the threshold against the share of bad ones that led to the verdict, half of
// them at most; and that samples close together count as one.
func TestEvidenceBack(t *testing.T) {
	tests := []struct {
		name    string
		before  string // of the way there
		gap     int
		samples string
		stuck   bool
	}{
		{"all were bad: 18 good ones", "llllllllllll", 1000, repeat(".", 18), true},
		{"19 good ones", "llllllllllll", 1000, repeat(".", 19), false},
		{"one bad one near the end", "llllllllllll", 1000, repeat(".", 18) + "l....", true},
		{"good again after that", "llllllllllll", 1000, repeat(".", 18) + "l.....", false},
		{"19 good ones within 2 s", "llllllllllll", 100, repeat(".", 19), true},
		{"57 good ones within 6 s", "llllllllllll", 100, repeat(".", 57), false},
		{"4 of 10 were bad: 20 good ones", repeat("l..l.", 8), 1000, repeat(".", 20), true},
		{"30 good ones", repeat("l..l.", 8), 1000, repeat(".", 30), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, next := feed(evidence{}, standard, 0, 1000, tt.before)
			if !e.stuck {
				t.Fatalf("no verdict before: %+v", e)
			}
			e, _ = feed(e, standard, next, tt.gap, tt.samples)
			if e.stuck != tt.stuck {
				t.Errorf("the verdict stands: %v, want %v, at %.2f", e.stuck, tt.stuck, e.score)
			}
		})
	}
}

// TestEvidenceRecast proves that late samples that fail change what is named.
func TestEvidenceRecast(t *testing.T) {
	e, _ := feed(evidence{}, standard, 0, 1000, "lllllll")
	for range 3 {
		e = e.recast()
	}
	if e.level() != Slow {
		t.Errorf("%v after 3 of 7 failed", e.level())
	}
	if e = e.recast(); e.level() != Sick {
		t.Errorf("%v after 4 of 7 failed", e.level())
	}
	if want := "7 of 7 probes failed or were late: SERVFAIL"; e.reason("SERVFAIL") != want {
		t.Errorf("reason %q, want %q", e.reason("SERVFAIL"), want)
	}
}

// TestEvidenceDown proves that an outage of any length is one bad sample, and
// that a server which comes back but answers late or wrongly still gets a
// verdict.
func TestEvidenceDown(t *testing.T) {
	down := func(e evidence, from int, causes ...Cause) (evidence, int) {
		for _, c := range causes {
			e = e.whileDown(standard, Result{Done: at(from), Cause: c, Late: c == Unmade})
			from += 1000
		}
		return e, from
	}
	e, next := evidence{}, 0
	for range 100 {
		e, next = down(e, next, Silent, Wrong)
	}
	if e.score > standard.bad() {
		t.Errorf("an outage weighs %.2f, want %.2f", e.score, standard.bad())
	}
	mixed, next2 := e, next
	for range 10 {
		mixed, next2 = down(mixed, next2, Passed, Wrong)
	}
	if !mixed.stuck || mixed.level() != Sick {
		t.Errorf("half wrong: %+v", mixed)
	}
	for range 7 {
		e = e.whileDown(standard, Result{Done: at(next), Cause: Passed, Late: true})
		next += 1000
	}
	if !e.stuck || e.level() != Slow {
		t.Errorf("all late: %+v", e)
	}
}

// TestEvidenceLaw proves over random samples that the score keeps its bounds,
// that only a bad sample makes a verdict and only a good one ends it, and that
// neither comes of one stall.
func TestEvidenceLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tolerate := rapid.Float64Range(0.01, 0.4).Draw(t, "tolerate")
		test := SlowTest{tolerate, rapid.Float64Range(tolerate+0.05, 0.95).Draw(t, "act_at"),
			rapid.Float64Range(1, 100).Draw(t, "threshold")}
		e, now := evidence{}, 0
		var clean, first int // since when the score is not zero; the first bad one since
		for range rapid.IntRange(1, 200).Draw(t, "samples") {
			now += rapid.IntRange(0, 400).Draw(t, "gap")
			was, bad := e, rapid.Bool().Draw(t, "bad")
			if was.score == 0 {
				clean, first = now, now
			}
			if bad {
				e = e.bad(test, fault(rapid.IntRange(0, 1).Draw(t, "fault")), at(now))
			} else {
				e = e.good(test, at(now))
			}
			switch {
			case e.score < 0 || e.score > test.Threshold:
				t.Fatalf("score %v of %v", e.score, test.Threshold)
			case e.stuck && !was.stuck && (!bad || now-first < 1000 || e.slots < 3 || e.score < test.Threshold):
				t.Fatalf("a verdict %d ms after the first bad sample: %+v", now-first, e)
			case !e.stuck && was.stuck && (bad || e.score != 0):
				t.Fatalf("the verdict ended: %+v", e)
			case !was.stuck && !e.stuck && e.watched() != (e.score > 0):
				t.Fatalf("watched %v at %v, since %d", e.watched(), e.score, clean)
			}
		}
	})
}

// TestSlowTestCompleted proves the defaults, each by itself.
func TestSlowTestCompleted(t *testing.T) {
	if want := (SlowTest{0.05, 0.30, 12}); standard != want {
		t.Errorf("defaults %+v, want %+v", standard, want)
	}
	for _, given := range []SlowTest{{Tolerate: 0.1}, {ActAt: 0.5}, {Threshold: 20}, {0.1, 0.5, 20}} {
		got := given.completed()
		for i, pair := range [][3]float64{{given.Tolerate, got.Tolerate, 0.05}, {given.ActAt, got.ActAt, 0.3}, {given.Threshold, got.Threshold, 12}} {
			want := pair[0]
			if want == 0 {
				want = pair[2]
			}
			if pair[1] != want {
				t.Errorf("%+v became %+v: number %d is not %v", given, got, i, want)
			}
		}
	}
}

// TestBackOver proves how much faster a gray server must become.
func TestBackOver(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct{ over, median, want time.Duration }{
		{50 * ms, 0, 25 * ms},
		{50 * ms, 2 * ms, 25 * ms},
		{50 * ms, 20 * ms, 40 * ms},
		{400 * ms, 200 * ms, 400 * ms}, // A healthy one must be able to return.
		{100 * ms, 90 * ms, 100 * ms},
	}
	for _, tt := range tests {
		if got := backOver(tt.over, tt.median); got != tt.want {
			t.Errorf("of %v with a median of %v: %v, want %v", tt.over, tt.median, got, tt.want)
		}
	}
}
