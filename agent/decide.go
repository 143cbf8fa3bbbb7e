package agent

import (
	"fmt"
	"time"

	"recuse/probe"
)

// Stance is what the node says to its routers about a service.
type Stance uint8

// The stances, from the least to the most attractive.
const (
	Withdrawn Stance = iota
	Depreferred
	Announced
)

// String gives the word of the design.
func (s Stance) String() string {
	return [...]string{"withdrawn", "depreferred", "announced"}[s]
}

// MarshalText writes the word, in JSON logs too.
func (s Stance) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Phase is where a service stands on its way in or out.
type Phase uint8

// The phases. Only Serving and Draining have a route.
const (
	// Down: no route, link down (or kept), the checks go on.
	Down Phase = iota
	// Raising: fit; the link comes up and every service address must answer.
	Raising
	// Serving: announced.
	Serving
	// Draining: on the way out and announced as second choice, so that the
	// routers move the flows before the route goes.
	Draining
	// Leaving: withdrawn, and the link stays up until the routers have acted.
	Leaving
	// Held: an operator set the link down; it is left alone until it is up.
	Held
)

// String names the phase for logs and status.
func (p Phase) String() string {
	return [...]string{"down", "raising", "serving", "draining", "leaving",
		"held"}[p]
}

// MarshalText writes the word, in JSON logs too.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Reason says why a phase began. It is the value of a metric's label, so the
// set is small and fixed; the evidence goes beside it as text.
type Reason uint8

// The reasons.
const (
	Starting Reason = iota
	ChecksPassed
	AddressesAnswer
	LevelSick
	LevelDead
	LinkDownByHand
	LinkUpAgain
	LinkLost
	DrainOver
	SettleOver
	Stopping
)

// reasons are the words for each Reason.
var reasons = [...]string{
	Starting:        "starting",
	ChecksPassed:    "checks-passed",
	AddressesAnswer: "addresses-answer",
	LevelSick:       "sick",
	LevelDead:       "dead",
	LinkDownByHand:  "link-down-by-hand",
	LinkUpAgain:     "link-up-again",
	LinkLost:        "link-lost",
	DrainOver:       "drain-over",
	SettleOver:      "settle-over",
	Stopping:        "stopping",
}

// String gives the word used in logs, status and metrics.
func (r Reason) String() string { return reasons[r] }

// MarshalText writes the word, in JSON logs too.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// bad tells whether an operator should look at it.
func (r Reason) bad() bool {
	switch r {
	case LevelSick, LevelDead, LinkDownByHand, LinkLost:
		return true
	}
	return false
}

// Rules are a service's settings, as far as the decision needs them.
type Rules struct {
	Settle time.Duration // from the withdrawal to the link going down
	Drain  time.Duration // from the depreference to the withdrawal
}

// State is all that the decision remembers of a service.
type State struct {
	Phase  Phase
	Since  time.Time // when the phase began
	Reason Reason    // why it began
	Detail string    // the evidence, in words
	// SeenUp tells that the link has been up in this phase, so that a link
	// that is down afterwards was set down by somebody else.
	SeenUp bool
}

// Inputs is what the decision is made from.
type Inputs struct {
	Now     time.Time
	Opinion Opinion
	// LinkExists and LinkUp are what the kernel says (IFF_UP).
	LinkExists, LinkUp bool
	// Addresses is how many the service has, Present how many of them the
	// link holds, Answered how many of those a resolver answered on since they
	// were put there.
	Addresses, Present, Answered int
	// Stop asks the service to leave for good; Hurry skips the waits.
	Stop, Hurry bool
}

// Orders is what the decision wants done.
type Orders struct {
	Stance Stance
	// Link tells whether the link is to be up.
	Link LinkOrder
	// Wake is when to decide again though nothing happened; zero for never.
	Wake time.Time
}

// LinkOrder is what is to be done with the link.
type LinkOrder uint8

// The orders for a link.
const (
	LinkDown LinkOrder = iota
	LinkUp
	LinkLeave // hands off
)

// Decide makes at most one step: the caller carries out the orders, looks
// again, and calls until the phase stays. It is a function of its arguments
// alone.
func Decide(r Rules, s State, in Inputs) (State, Orders) {
	next := step(r, s, in)
	if next.Phase == Raising && in.LinkUp {
		next.SeenUp = true
	}
	return next, orders(r, next, in)
}

// step finds the next state.
func step(r Rules, s State, in Inputs) State {
	switch s.Phase {
	case Down:
		return fromDown(s, in)
	case Raising:
		return fromRaising(s, in)
	case Serving:
		return fromServing(s, in)
	case Draining:
		return fromDraining(r, s, in)
	case Leaving:
		if waited(s, in, r.Settle) {
			return enter(Down, SettleOver, s.Detail, in)
		}
	case Held:
		return fromHeld(s, in)
	}
	return s
}

// fromDown comes up when every check has passed often enough.
func fromDown(s State, in Inputs) State {
	if !in.Stop && in.Opinion.Ready && in.Opinion.Level == probe.OK {
		return enter(Raising, ChecksPassed, in.Opinion.Why, in)
	}
	return s
}

// fromRaising announces once the link is there and every address answers.
func fromRaising(s State, in Inputs) State {
	switch {
	case in.Stop:
		return enter(Down, Stopping, "", in)
	case downByHand(s, in):
		return enter(Held, LinkDownByHand, "", in)
	case leaves(in.Opinion.Level):
		return enter(Down, levelReason(in), in.Opinion.Why, in)
	case in.LinkUp && in.Answered == in.Addresses:
		return enter(Serving, AddressesAnswer, answered(in), in)
	}
	return s
}

// fromServing leaves for bad evidence, a link that went, or a stop.
func fromServing(s State, in Inputs) State {
	switch {
	case in.LinkExists && !in.LinkUp:
		return enter(Held, LinkDownByHand, "", in)
	case !in.LinkExists || in.Present == 0:
		return enter(Raising, LinkLost, lost(in), in)
	case in.Stop:
		return enter(Draining, Stopping, "", in)
	case leaves(in.Opinion.Level):
		return enter(Leaving, levelReason(in), in.Opinion.Why, in)
	}
	return s
}

// fromDraining withdraws when the flows have had time to move, or at once when
// there is nothing left to serve them.
func fromDraining(r Rules, s State, in Inputs) State {
	if !in.LinkUp || in.Opinion.Level == probe.Dead || waited(s, in, r.Drain) {
		return enter(Leaving, DrainOver, s.Detail, in)
	}
	return s
}

// fromHeld waits for the operator.
func fromHeld(s State, in Inputs) State {
	switch {
	case in.Stop:
		return enter(Down, Stopping, "", in)
	case !in.LinkExists:
		return enter(Down, LinkLost, lost(in), in)
	case in.LinkUp && in.Opinion.Ready:
		return enter(Raising, LinkUpAgain, in.Opinion.Why, in)
	case in.LinkUp:
		return enter(Down, LinkUpAgain, in.Opinion.Why, in)
	}
	return s
}

// orders says what a state wants. The waits are relative to the phase's start.
func orders(r Rules, s State, in Inputs) Orders {
	switch s.Phase {
	case Raising:
		return Orders{Stance: Withdrawn, Link: LinkUp}
	case Serving:
		return Orders{Stance: Announced, Link: LinkUp}
	case Draining:
		return Orders{Stance: Depreferred, Link: LinkLeave,
			Wake: wake(s, in, r.Drain)}
	case Leaving:
		return Orders{Stance: Withdrawn, Link: LinkLeave,
			Wake: wake(s, in, r.Settle)}
	case Held:
		return Orders{Stance: Withdrawn, Link: LinkLeave}
	}
	return Orders{Stance: Withdrawn, Link: LinkDown}
}

// enter begins a phase.
func enter(p Phase, why Reason, detail string, in Inputs) State {
	return State{Phase: p, Since: in.Now, Reason: why, Detail: detail}
}

// leaves tells whether a level makes a service leave.
func leaves(l probe.Level) bool { return l == probe.Sick || l == probe.Dead }

// levelReason is the reason that stands for the level.
func levelReason(in Inputs) Reason {
	if in.Opinion.Level == probe.Dead {
		return LevelDead
	}
	return LevelSick
}

// downByHand tells that the link was up under us and is not any more.
func downByHand(s State, in Inputs) bool {
	return s.SeenUp && in.LinkExists && !in.LinkUp
}

// waited tells whether the phase has lasted for d.
func waited(s State, in Inputs, d time.Duration) bool {
	return in.Hurry || in.Now.Sub(s.Since) >= d
}

// wake is the moment at which waited turns true.
func wake(s State, in Inputs, d time.Duration) time.Time {
	if in.Hurry {
		return in.Now
	}
	return s.Since.Add(d)
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
