package bfd

// A poll is where a session stands with its own Poll Sequence (RFC 5880,
// section 6.5), by which one end makes sure that the other knows its new
// intervals.
//
// A Final does not say which Poll it answers. So values that change while a
// Poll Sequence is under way get one of their own afterwards, and it begins
// only when a packet without Final has been seen in between: the third of the
// ways that RFC 5880, section 6.8.3, leaves.
type poll uint8

const (
	pollIdle  poll = iota // nothing to tell
	pollNew               // begun, but no packet with Poll has left yet
	pollSent              // Poll has left with the newest values
	pollStale             // Poll has left, and the values changed since
	pollDue               // to begin at the next packet without Final
)

// active reports whether packets carry the Poll bit.
func (p poll) active() bool {
	return p == pollNew || p == pollSent || p == pollStale
}

// request begins a Poll Sequence for values that have just changed, or has
// one follow that which is under way.
func (p poll) request() poll {
	switch p {
	case pollIdle, pollNew:
		return pollNew
	case pollSent, pollStale:
		return pollStale
	default:
		return pollDue
	}
}

// sent notes that a packet with the Poll bit has left.
func (p poll) sent() poll {
	if p == pollNew {
		return pollSent
	}
	return p
}

// received notes a packet of the peer's. It reports whether the packet ended
// a Poll Sequence that had told the newest values.
func (p poll) received(final bool) (next poll, done bool) {
	switch {
	case final && p == pollSent:
		return pollIdle, true
	case final && p == pollStale:
		return pollDue, false
	case !final && p == pollDue:
		return pollNew, false
	}
	return p, false
}
