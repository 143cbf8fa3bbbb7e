package agent

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"recuse/probe"
)

// TestDecideProperties walks the decision through random inputs.
func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now, rules := State{Since: t0}, t0, testRules
		rules.Keep = rapid.Bool().Draw(t, "keep")
		var last Orders
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			gap := time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) *
				time.Millisecond
			now = now.Add(gap)
			in := draw(t, now)
			before := s
			var o Orders
			s, o = Decide(rules, s, in)
			if o.Stance == Announced && (!in.LinkExists || !in.LinkUp ||
				in.Present == 0) {
				t.Fatalf("announced without a link: %+v", in)
			}
			if o.Stance == Announced && last.Stance != Announced &&
				in.Answered < in.Addresses {
				t.Fatalf("announced before every address answered: %+v", in)
			}
			if o.Link == LinkDown && last.Stance == Announced {
				t.Fatalf("link down in the step of the withdrawal")
			}
			if s.Phase == before.Phase && s.Stance == before.Stance &&
				s.Since != before.Since && s.Reason == before.Reason {
				t.Fatalf("entered what it was in: %+v to %+v", before, s)
			}
			if !o.Wake.IsZero() && !o.Wake.After(now) {
				t.Fatalf("wakes in the past: %s", o.Wake.Sub(now))
			}
			last = o
		}
	})
}

// TestDecideStops proves that a service that is asked to stop is down within
// the waits, whatever else happens.
func TestDecideStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := at(Phase(rapid.IntRange(0, int(Held)).Draw(t, "phase")))
		now, end := t0, t0.Add(testRules.Drain+testRules.Settle)
		for s.Phase != Down && now.Before(end.Add(time.Second)) {
			in := draw(t, now)
			in.Stop = true
			var o Orders
			s, o = Decide(testRules, s, in)
			now = now.Add(time.Millisecond)
			if s.Phase != Down && o.Wake.After(now) {
				now = o.Wake
			}
		}
		if s.Phase != Down || now.After(end.Add(100*time.Millisecond)) {
			t.Fatalf("still %s after %s", s.Phase, now.Sub(t0))
		}
	})
}

// draw makes random inputs that a kernel and a set of checks can produce.
func draw(t *rapid.T, now time.Time) Inputs {
	level := rapid.SampledFrom([]probe.Level{probe.Unknown, probe.OK,
		probe.Slow, probe.Sick, probe.Dead}).Draw(t, "level")
	in := Inputs{Now: now, Addresses: 2,
		Opinion: Opinion{Level: level,
			Ready: level == probe.OK && rapid.Bool().Draw(t, "ready")},
		LinkExists: rapid.Bool().Draw(t, "exists")}
	if in.LinkExists {
		in.LinkUp = rapid.Bool().Draw(t, "up")
		in.Present = rapid.IntRange(0, 2).Draw(t, "present")
	}
	if in.LinkUp {
		in.Alive = rapid.IntRange(0, in.Present).Draw(t, "alive")
		in.Answered = rapid.IntRange(0, in.Alive).Draw(t, "answered")
	}
	in.Others.Known = OthersKnown(rapid.IntRange(0, 2).Draw(t, "others"))
	in.Admin.Drained = rapid.IntRange(0, 9).Draw(t, "drained") == 0
	in.Stalled = rapid.IntRange(0, 9).Draw(t, "stalled") == 0
	in.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
	return in
}
