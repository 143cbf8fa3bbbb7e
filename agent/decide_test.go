package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/probe"
)

// testRules are the design's defaults.
var testRules = Rules{Settle: 200 * time.Millisecond, Drain: time.Second,
	DrainTimeout: 10 * time.Second, YieldWait: 3 * time.Second,
	HoldMin: 5 * time.Second, HoldMax: 5 * time.Minute,
	Slow: Yield, Sick: Yield, Dead: Withdraw}

// t0 is when the phases of these tests begin.
var t0 = time.Unix(1000, 0)

// inputs are those of a healthy service with two addresses that answer,
// changed by every f.
func inputs(fs ...func(*Inputs)) Inputs {
	in := Inputs{
		Now:        t0,
		Opinion:    Opinion{Level: probe.OK, Ready: true},
		LinkExists: true, LinkUp: true,
		Addresses: 2, Present: 2, Answered: 2, Alive: 2,
	}
	for _, f := range fs {
		f(&in)
	}
	return in
}

// Changes of inputs.
func level(l probe.Level) func(*Inputs) {
	return func(in *Inputs) { in.Opinion = Opinion{Level: l} }
}

func others(k OthersKnown) func(*Inputs) {
	return func(in *Inputs) { in.Others.Known = k }
}

func after(d time.Duration) func(*Inputs) {
	return func(in *Inputs) { in.Now = t0.Add(d) }
}

func linkDown(in *Inputs) { in.LinkUp = false }

func linkGone(in *Inputs) {
	in.LinkExists, in.LinkUp = false, false
	in.Present, in.Answered, in.Alive = 0, 0, 0
}

func deaf(in *Inputs) { in.Answered, in.Alive = 1, 1 }

func wrong(in *Inputs) { in.Answered = 0 }

func stop(in *Inputs) { in.Stop = true }

// stalled is the first look after a stall: nothing is known.
func stalled(in *Inputs) {
	in.Stalled, in.Opinion = true, Opinion{Level: probe.Unknown}
}

func hurry(in *Inputs) { in.Stop, in.Hurry = true, true }

func drained(in *Inputs) { in.Admin.Drained = true }

func forced(in *Inputs) { in.Admin = Admin{Drained: true, Force: true} }

func patient(in *Inputs) { in.Admin = Admin{Drained: true, Patient: true} }

// States to start from; all began at t0.
func at(p Phase, fs ...func(*State)) State {
	s := State{Phase: p, Since: t0}
	if p == Serving {
		s.Stance = Announced
	}
	for _, f := range fs {
		f(&s)
	}
	return s
}

// secondChoice has been so since t0, and will wait for 4 s.
func secondChoice(s *State) {
	s.Stance = Depreferred
	s.Second = Second{Since: t0, Wait: 4 * time.Second}
}

// sawOthers has seen others since d after t0.
func sawOthers(d time.Duration) func(*State) {
	return func(s *State) { s.Second.Others = t0.Add(d) }
}

func fell(s *State) { s.Fell = true }

func soft(s *State) { s.Soft = true }

func seenUp(s *State) { s.SeenUp = true }

func asked(s *State) { s.Reason = DrainAsked }

func stopping(s *State) { s.Reason = Stopping }

// held has a hold that ends d after t0.
func heldFor(d time.Duration) func(*State) {
	return func(s *State) {
		s.Hold = Hold{Until: t0.Add(d), Last: t0, Span: d}
	}
}

func TestDecide(t *testing.T) {
	const ms, sec = time.Millisecond, time.Second
	type change = func(*Inputs)
	list := func(c ...change) []change { return c }
	tests := []struct {
		name   string
		from   State
		in     []change
		phase  Phase
		reason Reason
		stance Stance
		link   LinkOrder
		wake   time.Duration // after t0; 0 is never, -1 at once
	}{
		// Down.
		{"down, nothing known", at(Down), list(level(probe.Unknown)),
			Down, Starting, Withdrawn, LinkDown, 10 * sec},
		{"down, not ready", at(Down), list(level(probe.OK)),
			Down, Starting, Withdrawn, LinkDown, 10 * sec},
		{"down, ready", at(Down), nil,
			Raising, ChecksPassed, Withdrawn, LinkUp, 0},
		{"down, ready, drained", at(Down), list(drained),
			Down, Starting, Withdrawn, LinkDown, 10 * sec},
		{"down, stopping", at(Down), list(stop),
			Down, Starting, Withdrawn, LinkDown, 10 * sec},
		{"down, sick, others unknown", at(Down), list(level(probe.Sick)),
			Down, Starting, Withdrawn, LinkDown, 10 * sec},
		{"down, sick, others unknown for long", at(Down),
			list(level(probe.Sick), after(10*sec)),
			Raising, NobodyElse, Withdrawn, LinkUp, 0},
		{"down, unknown, others unknown for long", at(Down),
			list(level(probe.Unknown), after(10*sec)),
			Raising, NobodyElse, Withdrawn, LinkUp, 0},
		{"down, sick, others serve", at(Down),
			list(level(probe.Sick), others(OthersServe), after(20*sec)),
			Down, Starting, Withdrawn, LinkDown, 0},
		{"down, sick, nobody serves", at(Down),
			list(level(probe.Sick), others(NobodyServes)),
			Raising, NobodyElse, Withdrawn, LinkUp, 0},
		{"down, slow, nobody serves", at(Down),
			list(level(probe.Slow), others(NobodyServes)),
			Raising, NobodyElse, Withdrawn, LinkUp, 0},
		{"down, dead, nobody serves", at(Down),
			list(level(probe.Dead), others(NobodyServes), after(20*sec)),
			Down, Starting, Withdrawn, LinkDown, 0},
		{"down, sick, nobody serves, drained", at(Down),
			list(level(probe.Sick), others(NobodyServes), drained),
			Down, Starting, Withdrawn, LinkDown, 10 * sec},

		// Raising.
		{"raising, no link yet", at(Raising), list(linkDown),
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising, one address is deaf", at(Raising), list(deaf),
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising, all answer", at(Raising), nil,
			Serving, AddressesAnswer, Announced, LinkUp, 0},
		{"raising, all answer, in hold", at(Raising, heldFor(5*sec)), nil,
			Serving, HoldBegins, Depreferred, LinkUp, 5 * sec},
		{"raising, sick", at(Raising), list(level(probe.Sick)),
			Down, LevelSick, Withdrawn, LinkDown, 10 * sec},
		{"raising, sick, nobody serves", at(Raising),
			list(level(probe.Sick), wrong, others(NobodyServes)),
			Serving, NobodyElse, Depreferred, LinkUp, 0},
		{"raising, sick, nobody serves, deaf", at(Raising),
			list(level(probe.Sick), deaf, others(NobodyServes)),
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising, unknown", at(Raising), list(level(probe.Unknown), wrong),
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising, wrong answers, others serve", at(Raising),
			list(wrong, others(OthersServe)),
			Raising, Starting, Withdrawn, LinkUp, 0},
		{"raising softly, others came", at(Raising, soft),
			list(level(probe.Unknown), others(OthersServe)),
			Down, Yielded, Withdrawn, LinkDown, 10 * sec},
		{"raising softly, became fit", at(Raising, soft),
			list(others(OthersServe)),
			Serving, AddressesAnswer, Announced, LinkUp, 0},
		{"raising softly, dead", at(Raising, soft),
			list(level(probe.Dead), others(NobodyServes)),
			Down, LevelDead, Withdrawn, LinkDown, 10 * sec},
		{"raising, set down by hand", at(Raising, seenUp), list(linkDown),
			Held, LinkDownByHand, Withdrawn, LinkLeave, 0},
		{"raising, drained", at(Raising), list(drained),
			Down, DrainAsked, Withdrawn, LinkDown, 10 * sec},
		{"raising, stopping", at(Raising), list(stop),
			Down, Stopping, Withdrawn, LinkDown, 10 * sec},

		// Serving in full.
		{"serving, ok", at(Serving), nil,
			Serving, Starting, Announced, LinkUp, 0},
		{"serving, unknown", at(Serving), list(level(probe.Unknown)),
			Serving, Starting, Announced, LinkUp, 0},
		{"serving, not ready", at(Serving), list(level(probe.OK)),
			Serving, Starting, Announced, LinkUp, 0},
		{"serving, dead", at(Serving), list(level(probe.Dead)),
			Leaving, LevelDead, Withdrawn, LinkLeave, 200 * ms},
		{"serving, sick", at(Serving),
			list(level(probe.Sick), others(OthersServe)),
			Serving, LevelSick, Depreferred, LinkUp, 5 * sec},
		{"serving, slow", at(Serving), list(level(probe.Slow)),
			Serving, LevelSlow, Depreferred, LinkUp, 5 * sec},
		{"serving, set down by hand", at(Serving), list(linkDown),
			Held, LinkDownByHand, Withdrawn, LinkLeave, 0},
		{"serving, set down by hand, dead", at(Serving),
			list(linkDown, level(probe.Dead)),
			Held, LinkDownByHand, Withdrawn, LinkLeave, 0},
		{"serving, link deleted", at(Serving), list(linkGone),
			Raising, LinkLost, Withdrawn, LinkUp, 0},
		{"serving, every address deleted", at(Serving),
			list(func(in *Inputs) {
				in.Present, in.Answered, in.Alive = 0, 0, 0
			}), Raising, LinkLost, Withdrawn, LinkUp, 0},
		{"serving, one address deleted", at(Serving), list(func(in *Inputs) {
			in.Present, in.Answered, in.Alive = 1, 1, 1
		}), Serving, Starting, Announced, LinkUp, 0},
		{"serving, stopping", at(Serving), list(stop),
			Draining, Stopping, Depreferred, LinkLeave, sec},
		{"serving, drained", at(Serving), list(drained),
			Draining, DrainAsked, Depreferred, LinkLeave, sec},

		{"serving, after a stall", at(Serving), list(stalled),
			Serving, Stalled, Depreferred, LinkUp, 0},
		{"serving, after a stall, others serve", at(Serving),
			list(stalled, others(OthersServe)),
			Serving, Stalled, Depreferred, LinkUp, 0},

		// Serving as second choice.
		{"second, after a stall", at(Serving, secondChoice), list(stalled),
			Serving, Starting, Depreferred, LinkUp, 0},
		{"second, sick, others not seen", at(Serving, secondChoice, fell),
			list(level(probe.Sick), after(time.Hour)),
			Serving, Starting, Depreferred, LinkUp, 0},
		{"second, sick, others just seen", at(Serving, secondChoice, fell),
			list(level(probe.Sick), others(OthersServe), after(sec)),
			Serving, Starting, Depreferred, LinkUp, 5 * sec},
		{"second, sick, others seen nearly long enough",
			at(Serving, secondChoice, fell, sawOthers(sec)),
			list(level(probe.Sick), others(OthersServe), after(4999*ms)),
			Serving, Starting, Depreferred, LinkUp, 5 * sec},
		{"second, sick, others seen for long enough",
			at(Serving, secondChoice, fell, sawOthers(sec)),
			list(level(probe.Sick), others(OthersServe), after(5*sec)),
			Leaving, Yielded, Withdrawn, LinkLeave, 5200 * ms},
		{"second, sick, others seen with a break",
			at(Serving, secondChoice, fell, sawOthers(0)),
			list(level(probe.Sick), others(OthersUnknown), after(5*sec)),
			Serving, Starting, Depreferred, LinkUp, 0},
		{"second, sick, nobody serves",
			at(Serving, secondChoice, fell, sawOthers(0)),
			list(level(probe.Sick), others(NobodyServes), after(5*sec)),
			Serving, Starting, Depreferred, LinkUp, 0},
		{"second, dead", at(Serving, secondChoice, fell),
			list(level(probe.Dead)),
			Leaving, LevelDead, Withdrawn, LinkLeave, 200 * ms},
		{"second, unknown, others serve",
			at(Serving, secondChoice, fell, sawOthers(0)),
			list(level(probe.Unknown), others(OthersServe), after(time.Hour)),
			Serving, Starting, Depreferred, LinkUp, 0},
		{"second, ok again, in hold",
			at(Serving, secondChoice, fell, heldFor(5*sec)),
			list(after(4999 * ms)),
			Serving, Starting, Depreferred, LinkUp, 5 * sec},
		{"second, ok again, hold over",
			at(Serving, secondChoice, fell, heldFor(5*sec)),
			list(after(5 * sec)),
			Serving, LevelOK, Announced, LinkUp, 0},
		{"second, ok again, an address is wrong", at(Serving, secondChoice),
			list(wrong, after(time.Hour)),
			Serving, Starting, Depreferred, LinkUp, 0},
		{"second, ok again, manual failback", at(Serving, secondChoice,
			func(s *State) { s.Hold.Manual = true }), list(after(time.Hour)),
			Serving, Starting, Depreferred, LinkUp, 0},

		// Draining.
		{"stopping, flows move", at(Draining, secondChoice, stopping),
			list(stop, after(999*ms)),
			Draining, Stopping, Depreferred, LinkLeave, sec},
		{"stopping, flows have moved", at(Draining, secondChoice, stopping),
			list(stop, after(sec)),
			Leaving, DrainOver, Withdrawn, LinkLeave, 1200 * ms},
		{"stopping in a hurry", at(Draining, secondChoice, stopping),
			list(hurry), Leaving, DrainOver, Withdrawn, LinkLeave, 200 * ms},
		{"stopping, dead", at(Draining, secondChoice, stopping),
			list(stop, level(probe.Dead)),
			Leaving, DrainOver, Withdrawn, LinkLeave, 200 * ms},
		{"stopping, link went", at(Draining, secondChoice, stopping),
			list(stop, linkDown),
			Leaving, DrainOver, Withdrawn, LinkLeave, 200 * ms},
		{"drain, others not seen", at(Draining, secondChoice, asked),
			list(drained, after(5*sec)),
			Draining, DrainAsked, Depreferred, LinkLeave, 10 * sec},
		{"drain, others seen for long enough",
			at(Draining, secondChoice, asked, sawOthers(0)),
			list(drained, others(OthersServe), after(4*sec)),
			Leaving, DrainOver, Withdrawn, LinkLeave, 4200 * ms},
		{"drain, alone", at(Draining, secondChoice, asked),
			list(drained, after(10*sec)),
			Serving, DrainAlone, Depreferred, LinkUp, 0},
		{"drain, alone, patient", at(Draining, secondChoice, asked),
			list(patient, after(time.Hour)),
			Draining, DrainAsked, Depreferred, LinkLeave, 0},
		{"drain, alone, forced", at(Draining, secondChoice, asked),
			list(forced, after(sec)),
			Leaving, DrainOver, Withdrawn, LinkLeave, 1200 * ms},
		{"drain taken back", at(Draining, secondChoice, asked), nil,
			Serving, DrainEnded, Depreferred, LinkUp, 0},
		{"stop during a drain", at(Draining, secondChoice, asked),
			list(drained, stop, after(sec)),
			Leaving, DrainOver, Withdrawn, LinkLeave, 1200 * ms},

		// Leaving.
		{"leaving, routers act", at(Leaving), list(after(199 * ms)),
			Leaving, Starting, Withdrawn, LinkLeave, 200 * ms},
		{"leaving is not called back", at(Leaving), nil,
			Leaving, Starting, Withdrawn, LinkLeave, 200 * ms},
		{"leaving, settled", at(Leaving), list(after(200 * ms)),
			Down, SettleOver, Withdrawn, LinkDown, 10200 * ms},

		// Held.
		{"held", at(Held), list(linkDown),
			Held, Starting, Withdrawn, LinkLeave, 0},
		{"held, dead", at(Held), list(linkDown, level(probe.Dead)),
			Held, Starting, Withdrawn, LinkLeave, 0},
		{"held, up again, fit", at(Held), nil,
			Raising, LinkUpAgain, Withdrawn, LinkUp, 0},
		{"held, up again, sick", at(Held), list(level(probe.Sick)),
			Down, LinkUpAgain, Withdrawn, LinkDown, 10 * sec},
		{"held, up again, drained", at(Held), list(drained),
			Down, LinkUpAgain, Withdrawn, LinkDown, 10 * sec},
		{"held, link deleted", at(Held), list(linkGone),
			Down, LinkLost, Withdrawn, LinkDown, 10 * sec},
		{"held, stopping", at(Held), list(stop, linkDown),
			Down, Stopping, Withdrawn, LinkDown, 10 * sec},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, orders := Decide(testRules, tt.from, inputs(tt.in...))
			if got.Phase != tt.phase || got.Reason != tt.reason {
				t.Errorf("unexpected phase: got %s (%s), want %s (%s)",
					got.Phase, got.Reason, tt.phase, tt.reason)
			}
			want := Orders{Stance: tt.stance, Link: tt.link}
			if tt.wake > 0 {
				want.Wake = t0.Add(tt.wake)
			}
			if diff := cmp.Diff(want, orders); diff != "" {
				t.Errorf("unexpected orders (-want +got):\n%s", diff)
			}
		})
	}
}
