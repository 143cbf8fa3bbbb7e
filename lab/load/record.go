package load

import "time"

// Outcome is how a question ended.
type Outcome string

// The outcomes. What is not Answered is lost.
const (
	Answered Outcome = "answered" // an answer of any content
	Timeout  Outcome = "timeout"  // none came before the stub gave up
	Refused  Outcome = "refused"  // the kernel was told that nobody listens, or nobody is there
	Reset    Outcome = "reset"    // the connection broke, and the stub did not ask again
	Unsent   Outcome = "unsent"   // the generator had no socket, port or memory: its own failure
	Spilled  Outcome = "spilled"  // timed out, and the kernel had dropped answers for which the generator left no room: its own failure
)

// Via is what carried a question.
type Via string

// What carries questions.
const (
	ViaUDP Via = "udp"
	ViaTCP Via = "tcp"
	ViaTLS Via = "tls"
)

// Question is one question to a server.
type Question struct {
	Name string // with the final dot
	Type uint16
}

// Answer is what became of one question, however often the stub asked it.
type Answer struct {
	Sent    time.Time // first attempt; zero if Unsent
	Ended   time.Time // when the answer came, or when the stub gave up
	Outcome Outcome
	Rcode   int    // of an Answered question
	Node    string // who answered, by its NSID; "" if it does not say
	Server  string // the address that answered, else the one asked last
	Port    int    // the source port of that attempt; 0 if there was none
	Via     Via    // of that attempt; TCP after a truncated answer over UDP

	Attempts int    // how often the question was sent
	Resets   int    // connections that broke under it, each counted at one question
	Error    string // why it was Refused, Reset or Unsent
}

// Record is one question of a run. Its times are the wall clock's at the start
// of the run plus what the monotonic clock says, so a clock that is set during a
// run moves none of them.
type Record struct {
	Seq      int // from 0
	Client   int // who asked: a place in Config.Clients
	Intended time.Time
	Question
	Answer
}

// StalledAfter is the felt time above which an answer came too late to be
// called one: a page that waits for it hangs.
const StalledAfter = time.Second

// Lost reports whether the question got no answer.
func (r Record) Lost() bool { return r.Outcome != Answered }

// Own reports whether the question was lost by the generator itself.
func (r Record) Own() bool { return r.Outcome == Unsent || r.Outcome == Spilled }

// Bad reports whether the question was answered with a failure: SERVFAIL or
// REFUSED, which a client feels much like a loss.
func (r Record) Bad() bool { return !r.Lost() && (r.Rcode == rcodeServFail || r.Rcode == rcodeRefused) }

// Stalled reports whether the question was answered well, but more than
// StalledAfter after it was meant to be asked.
func (r Record) Stalled() bool { return !r.Lost() && !r.Bad() && r.Felt() > StalledAfter }

// Failed reports whether the client felt a failure: lost, bad or stalled.
func (r Record) Failed() bool { return r.Lost() || r.Bad() || r.Stalled() }

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
