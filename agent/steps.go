package agent

import (
	"fmt"
	"time"

	"recuse/probe"
)

// step finds the next state.
func step(r Rules, s State, in Inputs) State {
	switch s.Phase {
	case Down:
		return fromDown(r, s, in)
	case Raising:
		return fromRaising(r, s, in)
	case Serving:
		return fromServing(r, s, in)
	case Draining:
		return fromDraining(r, s, in)
	case Leaving:
		switch {
		case !waited(s.Since, in, r.Settle):
		case r.Keep && byHand(in) && !in.Stop:
			return enter(s, Held, LinkDownByHand, "", in)
		default:
			return enter(s, Down, SettleOver, s.Detail, in)
		}
	case Held:
		return fromHeld(r, s, in)
	}
	return s
}

// byHand tells that the link is there and down, which for one that has been up
// is an operator's word.
func byHand(in Inputs) bool { return in.LinkExists && !in.LinkUp }

// fromDown comes up when every check has passed often enough, or on any sign
// of life when nobody serves. A link that is kept up and was set down says that
// an operator holds the service, as it does while the service is announced.
func fromDown(r Rules, s State, in Inputs) State {
	switch {
	case in.Stop:
	case r.Keep && s.SeenUp && byHand(in):
		return enter(s, Held, LinkDownByHand, "", in)
	case in.Admin.Drained:
	case healthy(r, in):
		return enter(s, Raising, ChecksPassed, in.Opinion.Why, in)
	case needed(r, s, in):
		next := enter(s, Raising, NobodyElse, in.Opinion.Why, in)
		next.Soft = true
		return next
	}
	return s
}

// fromRaising announces once the link is there and every address answers.
func fromRaising(r Rules, s State, in Inputs) State {
	fit, wanted := healthy(r, in), needed(r, s, in)
	switch {
	case in.Stop:
		return enter(s, Down, Stopping, "", in)
	case in.Admin.Drained:
		return enter(s, Down, DrainAsked, "", in)
	case s.SeenUp && byHand(in):
		return enter(s, Held, LinkDownByHand, "", in)
	case !fit && !wanted && (s.Soft || bad(r, in)):
		return enter(s, Down, whyNot(in), in.Opinion.Why, in)
	case fit && in.LinkUp && in.Answered == in.Addresses:
		return announce(r, s, in)
	case wanted && in.LinkUp && in.Alive == in.Addresses:
		next := second(r, s, NobodyElse, in.Opinion.Why, in)
		next.Fell = true // it was out: its evidence is no further leaving
		return next
	}
	return s
}

// fromServing leaves for a link that went, a wish, or bad evidence. After a
// stall it must prove itself anew, as second choice meanwhile: a route that may
// be the last one is not withdrawn for what is not known.
func fromServing(r Rules, s State, in Inputs) State {
	switch {
	case byHand(in):
		return enter(s, Held, LinkDownByHand, "", in)
	case !in.LinkExists || in.Present == 0:
		return enter(s, Raising, LinkLost, lost(in), in)
	case in.Stop:
		return drain(r, s, Stopping, in)
	case in.Admin.Drained:
		return drain(r, s, DrainAsked, in)
	case bad(r, in):
		return fall(r, s, in)
	case in.Stalled && s.Stance == Announced:
		return second(r, s, Stalled, in.Opinion.Why, in)
	}
	return recovered(r, s, in)
}

// fall answers a level that is not good enough.
func fall(r Rules, s State, in Inputs) State {
	if answer(r, in.Opinion.Level) == Withdraw {
		return leave(r, s, levelReason(in), in)
	}
	if !s.Fell {
		s.Hold = s.Hold.left(r, in.Now)
	}
	switch {
	case s.Stance == Announced:
		s = second(r, s, levelReason(in), in.Opinion.Why, in)
	case answer(r, in.Opinion.Level) == Yield && s.Second.mayGo(in):
		s.Fell = true
		return leave(r, s, Yielded, in)
	}
	s.Fell = true
	return s
}

// recovered makes a second choice full again: healthy, every address answers,
// and no hold. An unknown level changes nothing.
func recovered(r Rules, s State, in Inputs) State {
	if s.Stance == Announced || !healthy(r, in) ||
		in.Answered < in.Addresses {
		return s
	}
	s.Fell = false
	if !s.Hold.over(in.Now) {
		return s
	}
	return announce(r, s, in)
}

// announce announces in full, or as second choice while a hold lasts.
func announce(r Rules, s State, in Inputs) State {
	if !s.Hold.over(in.Now) {
		return second(r, s, HoldBegins, answered(in), in)
	}
	next := enter(s, Serving, AddressesAnswer, answered(in), in)
	if s.Phase == Serving {
		next.Reason, next.Detail = LevelOK, in.Opinion.Why
	}
	next.Stance = Announced
	return next
}

// second makes the service second choice.
func second(r Rules, s State, why Reason, detail string, in Inputs) State {
	next := enter(s, Serving, why, detail, in)
	next.Stance, next.Second, next.Fell = Depreferred, s.Second, s.Fell
	if s.Stance != Depreferred {
		next.Second = Second{Since: in.Now, Wait: r.YieldWait +
			time.Duration(in.Jitter*float64(r.YieldWait)/2)}
	}
	return next
}

// drain makes the service second choice by somebody's wish.
func drain(r Rules, s State, why Reason, in Inputs) State {
	next := second(r, s, why, "", in)
	next.Phase = Draining
	return next
}

// fromDraining withdraws when the flows have had time to move, and for a drain
// when others are seen to have taken them; or at once when nothing is left
// that could serve them.
func fromDraining(r Rules, s State, in Inputs) State {
	asked := s.Reason == DrainAsked && !in.Stop
	switch {
	case !in.LinkUp || in.Opinion.Level == probe.Dead:
		return leave(r, s, DrainOver, in)
	case asked && !in.Admin.Drained:
		return second(r, s, DrainEnded, "", in)
	case !waited(s.Since, in, r.Drain):
		return s
	case !asked || in.Admin.Force || s.Second.mayGo(in):
		return leave(r, s, DrainOver, in)
	case !in.Admin.Patient && waited(s.Since, in, r.DrainTimeout):
		return second(r, s, DrainAlone, "", in)
	}
	return s
}

// leave withdraws. A leaving by the level begins a hold; one that began with a
// depreference was counted then.
func leave(r Rules, s State, why Reason, in Inputs) State {
	detail := in.Opinion.Why
	if why == DrainOver {
		detail = s.Reason.String()
	}
	next := enter(s, Leaving, why, detail, in)
	switch {
	case why == DrainOver:
	case s.Fell:
		next.Hold = s.Hold.again(r, in.Now)
	default:
		next.Hold = s.Hold.left(r, in.Now)
	}
	return next
}

// fromHeld waits for the operator.
func fromHeld(r Rules, s State, in Inputs) State {
	switch {
	case in.Stop:
		return enter(s, Down, Stopping, "", in)
	case !in.LinkExists:
		return enter(s, Down, LinkLost, lost(in), in)
	case in.LinkUp && healthy(r, in) && !in.Admin.Drained:
		return enter(s, Raising, LinkUpAgain, in.Opinion.Why, in)
	case in.LinkUp:
		return enter(s, Down, LinkUpAgain, in.Opinion.Why, in)
	}
	return s
}

// healthy tells that the service may be announced in full: the checks have
// passed `rise` times, or say nothing that this service cares about.
func healthy(r Rules, in Inputs) bool {
	switch in.Opinion.Level {
	case probe.OK:
		return in.Opinion.Ready
	case probe.Unknown:
		return false
	}
	return !bad(r, in)
}

// needed tells that a poor answer would be better than what clients get: nobody
// serves, or nothing has been heard of others for a while.
func needed(r Rules, s State, in Inputs) bool {
	alone := in.Others.Known == NobodyServes ||
		in.Others.Known == OthersUnknown &&
			(s.Soft || s.Phase == Down && waited(s.Since, in, startAlone))
	return alone && in.Opinion.Level != probe.Dead &&
		answer(r, in.Opinion.Level) != Withdraw
}

// bad tells that the level asks for more than a report.
func bad(r Rules, in Inputs) bool {
	return answer(r, in.Opinion.Level) != Ignore
}

// answer is the configured response to a level.
func answer(r Rules, l probe.Level) Answer {
	switch l {
	case probe.Slow:
		return r.Slow
	case probe.Sick:
		return r.Sick
	case probe.Dead:
		return r.Dead
	}
	return Ignore
}

// levelReason is the reason that stands for the level.
func levelReason(in Inputs) Reason {
	switch in.Opinion.Level {
	case probe.Slow:
		return LevelSlow
	case probe.Sick:
		return LevelSick
	case probe.Dead:
		return LevelDead
	}
	return LevelOK
}

// whyNot says why a service that was coming up does not.
func whyNot(in Inputs) Reason {
	if answerable := in.Opinion.Level > probe.OK; answerable {
		return levelReason(in)
	}
	return Yielded
}

// lost says what is missing.
func lost(in Inputs) string {
	if !in.LinkExists {
		return "the link was deleted"
	}
	return "the addresses were deleted"
}

// answered says what the announcement rests on.
func answered(in Inputs) string {
	return fmt.Sprintf("%d of %d addresses answer", in.Answered, in.Addresses)
}
