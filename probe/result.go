package probe

import (
	"context"
	"fmt"
	"time"
)

// Cause is the class of what came of a probe. The right response differs with
// it, so an outcome is never just "failed".
type Cause uint8

// The causes. The zero value is Unmade, so that an empty Result proves nothing.
const (
	// Unmade: the probe could not be made (no file descriptor, no permission,
	// no source address, out of memory), or its question cannot show anything.
	Unmade Cause = iota
	// Passed: the answer is right.
	Passed
	// Wrong: an answer came and is wrong: SERVFAIL, stale, another zone's.
	Wrong
	// Silent: no answer by the deadline.
	Silent
	// Refused: the kernel says that nobody listens.
	Refused
)

// causeNames holds the text of each cause.
var causeNames = [...]string{"unmade", "passed", "wrong", "silent", "refused"}

// String returns the cause's name.
func (c Cause) String() string {
	if int(c) >= len(causeNames) {
		return fmt.Sprintf("cause(%d)", uint8(c))
	}
	return causeNames[c]
}

// failed tells whether the cause counts towards a fall.
func (c Cause) failed() bool { return c == Wrong || c == Silent || c == Refused }

// Result is what came of one probe.
type Result struct {
	// Sent and Done are when the question left and when the outcome was known.
	// Both carry monotonic readings.
	Sent, Done time.Time
	// Cause is the class that the verdict counts by.
	Cause Cause
	// Outcome says it for people: "NXDOMAIN", "timeout", "stale answer (EDE 3)".
	Outcome string
	// Alive is set if an answer of any content came: a sign of life.
	Alive bool
	// Late is set by the Runner if the probe was out for longer than the check's
	// threshold of lateness.
	Late bool
	// Sampled is set by the Runner if the verdict took the probe for a bad sample
	// when it was late.
	Sampled bool
	// Expires is when the server's certificate ends; zero if none was shown. It
	// says nothing of the verdict.
	Expires time.Time
}

// RTT is how long the outcome took: for a timeout, how long was waited.
func (r Result) RTT() time.Duration { return r.Done.Sub(r.Sent) }

// Note says for people for how long the server's certificate is still good,
// "" if none was shown.
func (r Result) Note() string {
	if r.Expires.IsZero() {
		return ""
	}
	// Neither reading is monotonic: a certificate goes by the calendar.
	left := r.Expires.Sub(r.Done.Round(0))
	switch {
	case left < 0:
		return fmt.Sprintf("certificate expired %s ago", inDays(-left))
	default:
		return fmt.Sprintf("certificate good for %s", inDays(left))
	}
}

// inDays returns whole days, or hours if it is less than two days.
func inDays(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/day)
}

// Prober makes one probe.
type Prober interface {
	// Probe asks once and returns by the deadline that ctx carries. It must be
	// safe for concurrent use, since probes overlap.
	Probe(ctx context.Context) Result
}
