package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recuse/probe"
)

// testRules are the design's defaults.
var testRules = Rules{Settle: 200 * time.Millisecond, Drain: time.Second}

// t0 is when the phases of these tests begin.
var t0 = time.Unix(1000, 0)

// inputs are those of a healthy service with one address that answers,
// changed by f.
func inputs(f func(*Inputs)) Inputs {
	in := Inputs{
		Now:        t0,
		Opinion:    Opinion{Level: probe.OK, Ready: true},
		LinkExists: true, LinkUp: true,
		Addresses: 2, Present: 2, Answered: 2,
	}
	if f != nil {
		f(&in)
	}
	return in
}

func TestDecide(t *testing.T) {
	level := func(l probe.Level) func(*Inputs) {
		return func(in *Inputs) { in.Opinion = Opinion{Level: l} }
	}
	linkDown := func(in *Inputs) { in.LinkUp = false }
	linkGone := func(in *Inputs) {
		in.LinkExists, in.LinkUp = false, false
		in.Present, in.Answered = 0, 0
	}
	stop := func(in *Inputs) { in.Stop = true }
	after := func(d time.Duration) func(*Inputs) {
		return func(in *Inputs) { in.Now = t0.Add(d) }
	}
	both := func(fs ...func(*Inputs)) func(*Inputs) {
		return func(in *Inputs) {
			for _, f := range fs {
				f(in)
			}
		}
	}
	tests := []struct {
		name   string
		from   State
		in     func(*Inputs)
		phase  Phase
		reason Reason
		stance Stance
		link   LinkOrder
		wake   time.Duration // after t0; 0 is never
	}{
		{"down stays without evidence", State{Phase: Down},
			level(probe.Unknown), Down, Starting, Withdrawn, LinkDown, 0},
		{"down stays while not ready", State{Phase: Down},
			level(probe.OK), Down, Starting, Withdrawn, LinkDown, 0},
		{"down comes up", State{Phase: Down}, nil,
			Raising, ChecksPassed, Withdrawn, LinkUp, 0},
		{"down stays when stopping", State{Phase: Down}, stop,
			Down, Starting, Withdrawn, LinkDown, 0},

		{"raising waits for the link", State{Phase: Raising}, linkDown,
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising waits for every address", State{Phase: Raising},
			func(in *Inputs) { in.Answered = 1 },
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising announces", State{Phase: Raising}, nil,
			Serving, AddressesAnswer, Announced, LinkUp, 0},
		{"raising gives up when sick", State{Phase: Raising},
			level(probe.Sick), Down, LevelSick, Withdrawn, LinkDown, 0},
		{"raising goes on when unknown", State{Phase: Raising},
			both(level(probe.Unknown), func(in *Inputs) { in.Answered = 0 }),
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising is held by hand", State{Phase: Raising, SeenUp: true},
			linkDown, Held, LinkDownByHand, Withdrawn, LinkLeave, 0},
		{"raising stops", State{Phase: Raising}, stop,
			Down, Stopping, Withdrawn, LinkDown, 0},

		{"serving stays", State{Phase: Serving}, nil,
			Serving, Starting, Announced, LinkUp, 0},
		{"serving stays when unknown", State{Phase: Serving},
			level(probe.Unknown), Serving, Starting, Announced, LinkUp, 0},
		{"serving stays when not ready", State{Phase: Serving},
			level(probe.OK), Serving, Starting, Announced, LinkUp, 0},
		{"serving leaves when sick", State{Phase: Serving}, level(probe.Sick),
			Leaving, LevelSick, Withdrawn, LinkLeave, 200 * time.Millisecond},
		{"serving leaves when dead", State{Phase: Serving}, level(probe.Dead),
			Leaving, LevelDead, Withdrawn, LinkLeave, 200 * time.Millisecond},
		{"serving is held by hand", State{Phase: Serving}, linkDown,
			Held, LinkDownByHand, Withdrawn, LinkLeave, 0},
		{"serving loses the link", State{Phase: Serving}, linkGone,
			Raising, LinkLost, Withdrawn, LinkUp, 0},
		{"serving loses every address", State{Phase: Serving},
			func(in *Inputs) { in.Present, in.Answered = 0, 0 },
			Raising, LinkLost, Withdrawn, LinkUp, 0},
		{"serving outlives one lost address", State{Phase: Serving},
			func(in *Inputs) { in.Present, in.Answered = 1, 1 },
			Serving, Starting, Announced, LinkUp, 0},
		{"serving drains to stop", State{Phase: Serving}, stop,
			Draining, Stopping, Depreferred, LinkLeave, time.Second},
		{"a link set down wins over the level", State{Phase: Serving},
			both(linkDown, level(probe.Dead)),
			Held, LinkDownByHand, Withdrawn, LinkLeave, 0},

		{"draining waits", State{Phase: Draining, Since: t0},
			both(stop, after(999*time.Millisecond)),
			Draining, Starting, Depreferred, LinkLeave, time.Second},
		{"draining is over", State{Phase: Draining, Since: t0},
			both(stop, after(time.Second)), Leaving, DrainOver, Withdrawn,
			LinkLeave, 1200 * time.Millisecond},
		{"draining ends when dead", State{Phase: Draining, Since: t0},
			both(stop, level(probe.Dead)), Leaving, DrainOver, Withdrawn,
			LinkLeave, 200 * time.Millisecond},
		{"draining ends with the link", State{Phase: Draining, Since: t0},
			both(stop, linkDown), Leaving, DrainOver, Withdrawn, LinkLeave,
			200 * time.Millisecond},
		{"draining is hurried", State{Phase: Draining, Since: t0},
			func(in *Inputs) { in.Stop, in.Hurry = true, true },
			Leaving, DrainOver, Withdrawn, LinkLeave, -1},

		{"leaving waits", State{Phase: Leaving, Since: t0},
			after(199 * time.Millisecond), Leaving, Starting, Withdrawn,
			LinkLeave, 200 * time.Millisecond},
		{"leaving is not called back", State{Phase: Leaving, Since: t0}, nil,
			Leaving, Starting, Withdrawn, LinkLeave, 200 * time.Millisecond},
		{"leaving has settled", State{Phase: Leaving, Since: t0},
			after(200 * time.Millisecond), Down, SettleOver, Withdrawn,
			LinkDown, 0},

		{"held stays", State{Phase: Held}, linkDown,
			Held, Starting, Withdrawn, LinkLeave, 0},
		{"held stays though dead", State{Phase: Held},
			both(linkDown, level(probe.Dead)),
			Held, Starting, Withdrawn, LinkLeave, 0},
		{"held ends, fit", State{Phase: Held}, nil,
			Raising, LinkUpAgain, Withdrawn, LinkUp, 0},
		{"held ends, unfit", State{Phase: Held}, level(probe.Sick),
			Down, LinkUpAgain, Withdrawn, LinkDown, 0},
		{"held link is deleted", State{Phase: Held}, linkGone,
			Down, LinkLost, Withdrawn, LinkDown, 0},
		{"held stops", State{Phase: Held}, both(stop, linkDown),
			Down, Stopping, Withdrawn, LinkDown, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := inputs(tt.in)
			got, orders := Decide(testRules, tt.from, in)
			if got.Phase != tt.phase || got.Reason != tt.reason {
				t.Errorf("unexpected phase: got %s (%s), want %s (%s)",
					got.Phase, got.Reason, tt.phase, tt.reason)
			}
			want := Orders{Stance: tt.stance, Link: tt.link}
			switch {
			case tt.wake > 0:
				want.Wake = t0.Add(tt.wake)
			case tt.wake < 0: // at once
				want.Wake = in.Now
			}
			if diff := cmp.Diff(want, orders); diff != "" {
				t.Errorf("unexpected orders (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecideProperties walks the decision through random inputs.
func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now, withdrawnFor := State{}, t0, time.Duration(0)
		var last Orders
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			gap := time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) *
				time.Millisecond
			now = now.Add(gap)
			in := draw(t, now)
			before := s
			var o Orders
			s, o = Decide(testRules, s, in)
			withdrawnFor += gap
			if last.Stance != Withdrawn {
				withdrawnFor = 0
			}
			if o.Stance == Announced && (!in.LinkExists || !in.LinkUp ||
				in.Present == 0) {
				t.Fatalf("announced without a link: %+v", in)
			}
			if o.Stance == Announced && before.Phase != Serving &&
				in.Answered < in.Addresses {
				t.Fatalf("announced before every address answered: %+v", in)
			}
			if o.Link == LinkDown && last.Stance == Announced {
				t.Fatalf("link down in the step of the withdrawal")
			}
			if s.Phase == before.Phase && s != before &&
				s.SeenUp == before.SeenUp {
				t.Fatalf("state changed without a transition: %+v to %+v",
					before, s)
			}
			if !o.Wake.IsZero() && o.Wake.After(now.Add(time.Second)) {
				t.Fatalf("waits too long: %s", o.Wake.Sub(now))
			}
			last = o
		}
	})
}

// TestDecideStops proves that a service that is asked to stop is down within
// the waits, whatever else happens.
func TestDecideStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := State{Since: t0,
			Phase: Phase(rapid.IntRange(0, int(Held)).Draw(t, "phase"))}
		now, end := t0, t0.Add(testRules.Drain+testRules.Settle)
		for s.Phase != Down && now.Before(end.Add(time.Second)) {
			in := draw(t, now)
			in.Stop = true
			var o Orders
			s, o = Decide(testRules, s, in)
			now = now.Add(time.Millisecond)
			if !o.Wake.IsZero() && o.Wake.After(now) {
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
		probe.Sick, probe.Dead}).Draw(t, "level")
	in := Inputs{Now: now, Addresses: 2,
		Opinion: Opinion{Level: level,
			Ready: level == probe.OK && rapid.Bool().Draw(t, "ready")},
		LinkExists: rapid.Bool().Draw(t, "exists")}
	if in.LinkExists {
		in.LinkUp = rapid.Bool().Draw(t, "up")
		in.Present = rapid.IntRange(0, 2).Draw(t, "present")
	}
	if in.LinkUp {
		in.Answered = rapid.IntRange(0, in.Present).Draw(t, "answered")
	}
	return in
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
