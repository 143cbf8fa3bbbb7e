package bfd

import "time"

// slowTx is the least Desired Min TX Interval while a session is not Up
// (RFC 5880, section 6.8.3), so that a peer without BFD is not flooded.
const slowTx = time.Second

// desiredTx returns what a session in that state advertises as its Desired
// Min TX Interval when it is configured with d.
func desiredTx(s State, d time.Duration) time.Duration {
	if s == Up {
		return d
	}
	return max(d, slowTx)
}

// txInterval returns the time between our packets before jitter: the slower
// of what we want to send and what the peer wants to receive (RFC 5880,
// section 6.8.7).
func (m *machine) txInterval() time.Duration {
	return max(m.activeTx, m.remoteMinRx)
}

// rxInterval returns the longest time between the peer's packets as agreed.
func (m *machine) rxInterval() time.Duration {
	return max(m.activeRx, m.remoteMinTx)
}

// detection returns the silence after which the peer counts as gone (RFC
// 5880, section 6.8.4), zero before its first packet. It follows the peer's
// multiplier, not ours.
func (m *machine) detection() time.Duration {
	return time.Duration(m.remoteMult) * m.rxInterval()
}

// remoteDetection returns the silence of ours after which the peer counts us
// as gone, as far as it knows our intervals.
func (m *machine) remoteDetection() time.Duration {
	return time.Duration(m.detectMult) * m.txInterval()
}

// periodic reports whether packets are to be sent by the clock (RFC 5880,
// section 6.8.7): not if the peer wants none, and not if it is in Demand mode
// unless a Poll Sequence is under way.
func (m *machine) periodic() bool {
	if m.remoteMinRx == 0 {
		return false
	}
	return !m.remoteDemandActive() || m.poll.active()
}

// remoteDemandActive reports whether the peer is in Demand mode (RFC 5880,
// section 6.8.6).
func (m *machine) remoteDemandActive() bool {
	return m.remoteDemand && m.state == Up && m.remoteState == Up
}

// watching reports whether the silence of the peer has an end: a session that
// is Init or Up goes down then, one that is Down forgets the peer.
func (m *machine) watching() bool {
	return m.state != AdminDown && m.remoteDiscr != 0
}

// jitter shortens an interval by a random part, so that peers do not fall
// into step (RFC 5880, section 6.8.7): by 0 to 25 percent, or by 10 to 25
// percent if one missed packet is enough to be counted as gone. r is random
// in [0, 1).
func jitter(d time.Duration, mult uint8, r float64) time.Duration {
	least, most := 0.0, 0.25
	if mult == 1 {
		least = 0.10
	}
	return d - time.Duration(float64(d)*(least+(most-least)*r))
}
