package load

import "time"

// Outcome is how a question ended.
type Outcome string

// The outcomes. What is not Answered is lost.
const (
	Answered Outcome = "answered" // an answer of any content
	Timeout  Outcome = "timeout"  // none came in time
	Refused  Outcome = "refused"  // the kernel was told that nobody listens, or nobody is there
	Unsent   Outcome = "unsent"   // the question could not be sent
)

// Question is one question to a server.
type Question struct {
	Name string // with the final dot
	Type uint16
}

// Answer is what became of one question.
type Answer struct {
	Sent    time.Time // zero if Unsent
	Ended   time.Time // when the answer came, or when it was given up
	Outcome Outcome
	Rcode   int    // of an Answered question
	Node    string // who answered, by its NSID; "" if it does not say
	Server  string // the address asked
	Error   string // why it was Refused or Unsent
}

// Record is one question of a run.
type Record struct {
	Seq      int // from 0
	Intended time.Time
	Question
	Answer
}

// Lost reports whether the question got no answer.
func (r Record) Lost() bool { return r.Outcome != Answered }

// Bad reports whether the question was answered with a failure: SERVFAIL or
// REFUSED, which a client feels much like a loss.
func (r Record) Bad() bool { return !r.Lost() && (r.Rcode == rcodeServFail || r.Rcode == rcodeRefused) }

// Late is how much later than intended the question left.
func (r Record) Late() time.Duration {
	if r.Outcome == Unsent {
		return 0
	}
	return r.Sent.Sub(r.Intended)
}

// Felt is how long the asker waited, counted from when it meant to ask;
// Infinite if there was no answer.
func (r Record) Felt() time.Duration {
	if r.Lost() {
		return Infinite
	}
	return r.Ended.Sub(r.Intended)
}

// The response codes that are failures of the server (RFC 1035 section 4.1.1).
const (
	rcodeServFail = 2
	rcodeRefused  = 5
)
