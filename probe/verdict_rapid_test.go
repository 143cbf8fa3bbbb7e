package probe

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// history is what a plain reader of the law would note of an ordered stream of
// results, beside the verdict that is tested.
type history struct {
	passes, fails, refused, unmade int
	life                           time.Time // the last sign of life
	asked                          time.Time // the first unanswered probe since
}

// note takes one result in.
func (h *history) note(res Result) {
	if res.Alive {
		h.life, h.asked = res.Done, time.Time{}
	}
	switch res.Cause {
	case Unmade:
		h.passes = 0
		h.unmade++
		return
	case Passed:
		h.passes++
		h.fails, h.refused = 0, 0
	default:
		h.passes = 0
		h.fails++
		h.refused++
		if res.Cause != Refused {
			h.refused = 0
		}
		if !res.Alive && h.asked.IsZero() {
			h.asked = res.Sent
		}
	}
	h.unmade = 0
}

// silence returns for how long nothing has shown life at now.
func (h *history) silence(now time.Time) time.Duration {
	if h.asked.IsZero() {
		return 0
	}
	return now.Sub(later(h.life, h.asked))
}

// drawResult draws a result of a probe that leaves at sent.
func drawResult(t *rapid.T, sent time.Time, most time.Duration) Result {
	c := rapid.SampledFrom([]Cause{Unmade, Passed, Passed, Wrong, Silent, Refused, Refused}).Draw(t, "cause")
	took := time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, "took"))
	alive := c == Passed || c == Wrong || c == Unmade && rapid.Bool().Draw(t, "alive")
	return Result{Sent: sent, Done: sent.Add(took), Cause: c, Outcome: c.String(), Alive: alive}
}

// drawRules draws rules.
func drawRules(t *rapid.T) Rules {
	return Rules{
		Fall:         rapid.IntRange(1, 5).Draw(t, "fall"),
		Rise:         rapid.IntRange(1, 5).Draw(t, "rise"),
		SilentAfter:  time.Duration(rapid.IntRange(0, 5).Draw(t, "silent_after")) * time.Second,
		UnknownAfter: time.Duration(rapid.IntRange(1, 60).Draw(t, "unknown_after")) * time.Second,
	}
}

// TestVerdictLaw holds the verdict against the law, over random streams whose
// results come in order.
func TestVerdictLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRules(t)
		v, h, now := Verdict{}, history{}, epoch
		for range rapid.IntRange(1, 60).Draw(t, "results") {
			res := drawResult(t, now, time.Second)
			now = res.Done.Add(time.Millisecond)
			was := v
			v = v.Next(r, res)
			h.note(res)
			checkLaw(t, r, h, res, was, v)
		}
	})
}

// checkLaw asserts what the law says of one step from was to v.
func checkLaw(t *rapid.T, r Rules, h history, res Result, was, v Verdict) {
	if v.Fails != h.fails || v.Passes != h.passes {
		t.Fatalf("rows of %d failures and %d passes, want %d and %d", v.Fails, v.Passes, h.fails, h.passes)
	}
	if v.Ready && !was.Ready && h.passes < r.Rise {
		t.Fatalf("ready after %d passes of %d", h.passes, r.Rise)
	}
	if h.passes >= r.Rise && v.Level != OK {
		t.Fatalf("%v after %d passes of %d", v.Level, h.passes, r.Rise)
	}
	if was.Level == OK && v.Level != OK && h.fails < r.Fall && h.unmade < r.Fall {
		t.Fatalf("left ok for %v after %d failures and %d unmade", v.Level, h.fails, h.unmade)
	}
	if v.Level == OK && !v.Ready {
		t.Fatal("ok without being ready")
	}
	if v.Level == Dead && was.Level != Dead && h.refused < r.Fall && h.silence(res.Done) < r.SilentAfter {
		t.Fatalf("dead after %d refusals and a silence of %v", h.refused, h.silence(res.Done))
	}
	if v.Level == Dead && res.Alive && h.unmade < r.Fall {
		t.Fatal("dead in the face of an answer")
	}
	if h.unmade < r.Fall && h.fails >= r.Fall && v.Level != Sick && v.Level != Dead {
		t.Fatalf("%v after %d failures", v.Level, h.fails)
	}
	if res.Cause == Unmade && v.Level != was.Level && h.unmade < r.Fall && !(was.Level == Dead && res.Alive) &&
		!(v.Level == Dead && h.fails >= r.Fall) {
		t.Fatalf("%v became %v by %d unmade", was.Level, v.Level, h.unmade)
	}
}

// TestVerdictOverlap holds the verdict against the law over random streams
// whose results come out of order.
func TestVerdictOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRules(t)
		var results []Result
		for i := range rapid.IntRange(1, 60).Draw(t, "results") {
			results = append(results, drawResult(t, at(i*50), time.Second))
		}
		v := Verdict{}
		for len(results) > 0 {
			first := earliest(results)
			res := results[first]
			results = append(results[:first], results[first+1:]...)
			was := v
			v = v.Next(r, res)
			if v.Fails > was.Fails+1 || v.Passes > was.Passes+1 || v.Fails > 0 && v.Passes > 0 {
				t.Fatalf("rows went from %+v to %+v", was, v)
			}
			if was.Level == OK && v.Level != OK && v.Fails < r.Fall && v.row.unmade < r.Fall {
				t.Fatalf("left ok for %v after %d failures", v.Level, v.Fails)
			}
			if v.Ready && !was.Ready && v.Passes < r.Rise {
				t.Fatalf("ready after %d passes", v.Passes)
			}
			if res.Cause.failed() && res.Sent.Before(was.row.passed) && v.Fails > was.Fails {
				t.Fatal("a failure counted that a later pass had made good")
			}
		}
	})
}

// earliest returns the index of the result that came first.
func earliest(results []Result) int {
	first := 0
	for i, res := range results {
		if res.Done.Before(results[first].Done) {
			first = i
		}
	}
	return first
}
