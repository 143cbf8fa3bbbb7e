package agent

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
	// Raising: the link comes up and every service address must answer.
	Raising
	// Serving: announced, fully or as second choice.
	Serving
	// Draining: on the way out by somebody's wish and announced as second
	// choice, so that the routers move the flows before the route goes.
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

// Reason says why a phase or a stance began. It is the value of a metric's
// label, so the set is small and fixed; the evidence goes beside it as text.
type Reason uint8

// The reasons.
const (
	Starting Reason = iota
	ChecksPassed
	NobodyElse
	AddressesAnswer
	LevelOK
	LevelSlow
	LevelSick
	LevelDead
	HoldBegins
	HoldOver
	Yielded
	LinkDownByHand
	LinkUpAgain
	LinkLost
	DrainAsked
	DrainOver
	DrainAlone
	DrainEnded
	SettleOver
	Stalled
	Stopping
)

// reasons are the words for each Reason.
var reasons = [...]string{
	Starting:        "starting",
	ChecksPassed:    "checks-passed",
	NobodyElse:      "nobody-else-serves",
	AddressesAnswer: "addresses-answer",
	LevelOK:         "ok",
	LevelSlow:       "slow",
	LevelSick:       "sick",
	LevelDead:       "dead",
	HoldBegins:      "hold",
	HoldOver:        "hold-over",
	Yielded:         "others-serve",
	LinkDownByHand:  "link-down-by-hand",
	LinkUpAgain:     "link-up-again",
	LinkLost:        "link-lost",
	DrainAsked:      "drain-asked",
	DrainOver:       "drain-over",
	DrainAlone:      "drain-without-others",
	DrainEnded:      "drain-ended",
	SettleOver:      "settle-over",
	Stalled:         "stalled",
	Stopping:        "stopping",
}

// String gives the word used in logs, status and metrics.
func (r Reason) String() string { return reasons[r] }

// MarshalText writes the word, in JSON logs too.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// bad tells whether an operator should look at it.
func (r Reason) bad() bool {
	switch r {
	case NobodyElse, LevelSlow, LevelSick, LevelDead, LinkDownByHand, LinkLost,
		DrainAlone, Stalled:
		return true
	}
	return false
}
