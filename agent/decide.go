package agent

import "time"

// startAlone is how long a node that is out waits for word of others before it
// serves as second choice on any answer (design section 3).
const startAlone = 10 * time.Second

// Answer is what a service does at a level.
type Answer uint8

// The answers (design section 3).
const (
	Ignore   Answer = iota // report only
	Deprefer               // stay, as second choice
	Yield                  // second choice at once, and out once others serve
	Withdraw               // out at once
)

// Rules are a service's settings, as far as the decision needs them.
type Rules struct {
	Settle       time.Duration // from the withdrawal to the link going down
	Drain        time.Duration // from a drain's depreference to its next step
	DrainTimeout time.Duration // how long a drain waits for others
	YieldWait    time.Duration // how long others are seen before leaving
	HoldMin      time.Duration
	HoldMax      time.Duration
	Slow         Answer
	Sick         Answer
	Dead         Answer
	Manual       bool // after a leaving only an operator makes it full again
	Keep         bool // the link stays up while the service is out
}

// State is all that the decision remembers of a service.
type State struct {
	Phase  Phase
	Since  time.Time // when the phase or the stance began
	Reason Reason    // why it began
	Detail string    // the evidence, in words
	// Stance is what a phase with a route announces.
	Stance Stance
	// Soft tells that the service comes up on any answer, since nobody serves.
	Soft bool
	// Fell tells that the level has fallen since the service was last healthy,
	// and that no further evidence against it is another leaving.
	Fell bool
	// SeenUp tells that the link has been up in this phase, so that a link
	// that is down afterwards was set down by somebody else.
	SeenUp bool
	// Second is what a second choice remembers.
	Second Second
	Hold   Hold
}

// Second is what a service remembers while it is second choice.
type Second struct {
	Since time.Time // of the depreference
	// Others is since when others have been seen without a break; zero: they
	// are not seen now.
	Others time.Time
	// Wait is how long they must be. It is drawn anew for each depreference, so
	// that nodes do not move in step.
	Wait time.Duration
}

// Admin is an operator's wish.
type Admin struct {
	Drained bool
	// Force drains even if no others are seen.
	Force bool
	// Patient waits for others without end: a drain by file, which nobody
	// watches.
	Patient bool
}

// Inputs is what the decision is made from.
type Inputs struct {
	Now     time.Time
	Opinion Opinion
	Others  Others
	Admin   Admin
	// Jitter, from 0 to 1, spreads the wait of a yield by up to half of it.
	Jitter float64
	// LinkExists and LinkUp are what the kernel says (IFF_UP).
	LinkExists, LinkUp bool
	// Addresses is how many the service has, Present how many of them the
	// link holds. Answered is how many of those a resolver answered rightly on
	// since they were put there, Alive on how many it answered at all.
	Addresses, Present, Answered, Alive int
	// Stalled tells that the agent has just not run for so long that nothing it
	// knew of the service is known any more.
	Stalled bool
	// Stop asks the service to leave for good; Hurry skips the waits.
	Stop, Hurry bool
}

// Orders is what the decision wants done.
type Orders struct {
	Stance Stance
	Link   LinkOrder
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
// again, and calls until the state stays. It is a function of its arguments
// alone.
func Decide(r Rules, s State, in Inputs) (State, Orders) {
	next := step(r, track(s, in), in)
	if stays := next.Phase == Down && r.Keep; in.LinkUp &&
		(stays || next.Phase == Raising) {
		next.SeenUp = true
	}
	return next, orders(r, next, in)
}

// track notes since when others have been seen. A break begins the wait anew.
func track(s State, in Inputs) State {
	switch {
	case s.Stance != Depreferred || in.Others.Known != OthersServe:
		s.Second.Others = time.Time{}
	case s.Second.Others.IsZero():
		s.Second.Others = in.Now
	}
	return s
}

// orders says what a state wants.
func orders(r Rules, s State, in Inputs) Orders {
	o := Orders{Stance: s.Stance, Wake: wake(r, s, in)}
	switch s.Phase {
	case Raising, Serving:
		o.Link = LinkUp
	case Draining, Leaving, Held:
		o.Link = LinkLeave
	}
	return o
}

// wake is the next moment at which time alone may change the decision.
func wake(r Rules, s State, in Inputs) time.Time {
	at := in.Others.Wake
	add := func(t time.Time) {
		if t.After(in.Now) {
			at = earliest(at, t)
		}
	}
	switch s.Phase {
	case Down:
		add(s.Since.Add(startAlone))
	case Serving:
		add(s.Hold.Until)
		add(s.Second.due())
	case Draining:
		add(s.Since.Add(r.Drain))
		add(s.Since.Add(r.DrainTimeout))
		add(s.Second.due())
	case Leaving:
		add(s.Since.Add(r.Settle))
	}
	return at
}

// due is when others will have been seen for long enough; zero if they are not
// seen. They are looked for from our own depreference on: before it, a router
// may show nobody but ourselves.
func (c Second) due() time.Time {
	if c.Others.IsZero() {
		return time.Time{}
	}
	return c.Others.Add(c.Wait)
}

// mayGo tells whether others have been seen for long enough.
func (c Second) mayGo(in Inputs) bool {
	due := c.due()
	return !due.IsZero() && !in.Now.Before(due)
}

// enter begins a phase without a route.
func enter(s State, p Phase, why Reason, detail string, in Inputs) State {
	return State{Phase: p, Since: in.Now, Reason: why, Detail: detail,
		Hold: s.Hold}
}

// waited tells whether d has passed since a moment.
func waited(since time.Time, in Inputs, d time.Duration) bool {
	return in.Hurry || in.Now.Sub(since) >= d
}
