package agent

import (
	"testing"
	"time"

	"recuse/probe"
)

// TestDecideKeep goes through what differs where the link stays up while the
// service is out.
func TestDecideKeep(t *testing.T) {
	r := testRules
	r.Keep = true
	settled := after(r.Settle)
	tests := []struct {
		name  string
		from  State
		in    []func(*Inputs)
		phase Phase
	}{
		{"down, not raised yet", at(Down),
			[]func(*Inputs){level(probe.Sick), linkDown}, Down},
		{"down, set down by hand", at(Down, seenUp),
			[]func(*Inputs){level(probe.Sick), linkDown}, Held},
		{"down, set down by hand, drained", at(Down, seenUp),
			[]func(*Inputs){drained, linkDown}, Held},
		{"down, set down by hand, stopping", at(Down, seenUp),
			[]func(*Inputs){stop, linkDown}, Down},
		{"down, deleted", at(Down, seenUp),
			[]func(*Inputs){level(probe.Sick), linkGone}, Down},
		{"leaving, set down by hand", at(Leaving),
			[]func(*Inputs){linkDown}, Leaving},
		{"left, set down by hand", at(Leaving),
			[]func(*Inputs){linkDown, settled}, Held},
		{"left, set down by hand, stopping", at(Leaving),
			[]func(*Inputs){stop, linkDown, settled}, Down},
		{"left", at(Leaving), []func(*Inputs){settled}, Down},
	}
	for _, tt := range tests {
		s, _ := Decide(r, tt.from, inputs(tt.in...))
		if s.Phase != tt.phase {
			t.Errorf("%s: got %s, want %s", tt.name, s.Phase, tt.phase)
		}
	}
	s, _ := Decide(r, at(Down), inputs(level(probe.Sick)))
	if s, _ = Decide(r, s, inputs(level(probe.Sick), linkDown)); s.Phase != Held {
		t.Errorf("a link that was seen up and set down: got %s", s.Phase)
	}
}

// TestDecideAnswers goes through what may be configured for a level.
func TestDecideAnswers(t *testing.T) {
	tests := []struct {
		name   string
		answer Answer
		from   Stance
		others OthersKnown
		phase  Phase
		stance Stance
	}{
		{"ignore", Ignore, Announced, OthersServe, Serving, Announced},
		{"ignore makes full", Ignore, Depreferred, OthersServe, Serving, Announced},
		{"deprefer", Deprefer, Announced, OthersServe, Serving, Depreferred},
		{"deprefer stays", Deprefer, Depreferred, OthersServe, Serving, Depreferred},
		{"yield", Yield, Announced, OthersServe, Serving, Depreferred},
		{"yield leaves", Yield, Depreferred, OthersServe, Leaving, Withdrawn},
		{"yield alone", Yield, Depreferred, NobodyServes, Serving, Depreferred},
		{"withdraw", Withdraw, Announced, NobodyServes, Leaving, Withdrawn},
	}
	for _, l := range []probe.Level{probe.Slow, probe.Sick, probe.Dead} {
		for _, tt := range tests {
			t.Run(l.String()+" "+tt.name, func(t *testing.T) {
				r := testRules
				r.Slow, r.Sick, r.Dead = tt.answer, tt.answer, tt.answer
				from := at(Serving, secondChoice, fell, sawOthers(0))
				from.Stance = tt.from
				s, o := Decide(r, from, inputs(level(l), others(tt.others),
					after(time.Minute)))
				if s.Phase != tt.phase || o.Stance != tt.stance {
					t.Errorf("got %s %s, want %s %s", s.Phase, o.Stance,
						tt.phase, tt.stance)
				}
			})
		}
	}
}

// TestYieldWait proves that the wait is between one and one and a half of the
// configured one.
func TestYieldWait(t *testing.T) {
	for _, tt := range []struct {
		jitter float64
		want   time.Duration
	}{{0, 3 * time.Second}, {0.5, 3750 * time.Millisecond},
		{1, 4500 * time.Millisecond}} {
		s, _ := Decide(testRules, at(Serving), inputs(level(probe.Sick),
			func(in *Inputs) { in.Jitter = tt.jitter }))
		if s.Second.Wait != tt.want {
			t.Errorf("jitter %v: unexpected wait %s, want %s", tt.jitter,
				s.Second.Wait, tt.want)
		}
	}
}

// TestHold counts the leavings: one for each fall, whether it ends in a
// depreference, a withdrawal, or first the one and then the other.
func TestHold(t *testing.T) {
	s := at(Serving)
	fallAt := func(d time.Duration, l probe.Level) {
		s, _ = Decide(testRules, s, inputs(level(l), after(d)))
	}
	okAt := func(d time.Duration) { s, _ = Decide(testRules, s, inputs(after(d))) }
	want := func(span, until time.Duration) {
		t.Helper()
		if s.Hold.Span != span || !s.Hold.Until.Equal(t0.Add(until)) {
			t.Errorf("unexpected hold: %s until %s, want %s until %s",
				s.Hold.Span, s.Hold.Until.Sub(t0), span, until)
		}
	}
	const sec = time.Second
	fallAt(0, probe.Sick)
	want(5*sec, 5*sec)
	fallAt(sec, probe.Sick) // the same fall
	want(5*sec, 5*sec)
	okAt(2 * sec)
	fallAt(3*sec, probe.Slow) // a second one, though still in hold
	want(10*sec, 13*sec)
	s, _ = Decide(testRules, s, inputs(level(probe.Slow), others(OthersServe),
		after(4*sec)))
	s, _ = Decide(testRules, s, inputs(level(probe.Slow), others(OthersServe),
		after(10*sec)))
	if s.Phase != Leaving {
		t.Fatalf("did not yield: %s", s.Phase)
	}
	want(10*sec, 20*sec) // the same fall, counted from the leaving
	s = at(Serving, func(n *State) { n.Hold = s.Hold })
	fallAt(20*sec, probe.Dead)
	want(20*sec, 40*sec)
	s = at(Serving, func(n *State) { n.Hold = s.Hold })
	fallAt(30*time.Minute, probe.Dead) // forgotten by then
	want(5*sec, 30*time.Minute+5*sec)
	s = at(Serving, func(n *State) { n.Hold.Span, n.Hold.Last = 4*time.Minute, t0 })
	fallAt(sec, probe.Dead)
	want(5*time.Minute, 5*time.Minute+sec) // capped
}

// TestHoldSoftReturn takes a node that yielded through what it does while nobody
// else serves, sick all the time: none of that is a further leaving.
func TestHoldSoftReturn(t *testing.T) {
	const sec = time.Second
	s, now := at(Serving), time.Duration(0)
	play := func(l probe.Level, k OthersKnown, d time.Duration) {
		for end := now + d; now < end; now += 100 * time.Millisecond {
			s, _ = Decide(testRules, s, inputs(level(l), others(k), after(now)))
		}
	}
	want := func(what string, p Phase, span time.Duration) {
		t.Helper()
		if s.Phase != p || s.Hold.Span != span {
			t.Errorf("%s: %s with a hold of %s, want %s with %s", what, s.Phase,
				s.Hold.Span, p, span)
		}
	}
	play(probe.Sick, OthersServe, 5*sec)
	want("yielded", Down, 5*sec)
	for range 3 {
		play(probe.Sick, NobodyServes, 5*sec)
		want("back softly", Serving, 5*sec)
		play(probe.Sick, OthersServe, 5*sec)
		want("out again", Down, 5*sec)
	}
	play(probe.Sick, NobodyServes, 5*sec)
	play(probe.Dead, NobodyServes, sec)
	want("dead after it", Down, 5*sec)
	s = at(Down)
	play(probe.Sick, NobodyServes, sec)
	want("softly from the start", Serving, 0)
	play(probe.Dead, NobodyServes, sec)
	want("dead after that", Down, 5*sec)
	s = at(Serving, secondChoice, heldFor(5*sec))
	s.Hold.Last = t0.Add(now)
	play(probe.Sick, NobodyServes, sec)
	want("sick after it was healthy in a hold", Serving, 10*sec)
}

// TestManualFailback holds without end after a leaving.
func TestManualFailback(t *testing.T) {
	r := testRules
	r.Manual = true
	s, _ := Decide(r, at(Serving), inputs(level(probe.Sick)))
	s, o := Decide(r, s, inputs(after(time.Hour)))
	if o.Stance != Depreferred {
		t.Fatalf("full again without an operator: %s", o.Stance)
	}
	s.Hold = s.Hold.resumed()
	if _, o = Decide(r, s, inputs(after(time.Hour))); o.Stance != Announced {
		t.Errorf("still %s after the operator's word", o.Stance)
	}
}

// TestReasons sees to it that every reason has a word of its own.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := Starting; r <= Stopping; r++ {
		if r.String() == "" || seen[r.String()] {
			t.Errorf("reason %d has no word of its own: %q", r, r.String())
		}
		seen[r.String()] = true
	}
	if len(reasons) != int(Stopping)+1 {
		t.Errorf("unexpected number of words: %d", len(reasons))
	}
}

// TestDrainOfASickService proves that a leaving which was counted before a drain
// is not counted again when the drain has failed or was taken back.
func TestDrainOfASickService(t *testing.T) {
	for name, in := range map[string]Inputs{
		"alone": {Now: t0.Add(10 * time.Second), Admin: Admin{Drained: true}},
		"taken": {Now: t0.Add(time.Second)},
	} {
		in.LinkExists, in.LinkUp, in.Addresses, in.Present = true, true, 1, 1
		in.Opinion.Level = probe.Sick
		s := at(Draining, secondChoice, asked, fell, heldFor(5*time.Second))
		for range 2 {
			s, _ = Decide(testRules, s, in)
			in.Admin.Drained = false
		}
		if s.Phase != Serving || s.Hold.Span != 5*time.Second {
			t.Errorf("%s: the leaving is counted twice: %+v", name, s)
		}
	}
}
