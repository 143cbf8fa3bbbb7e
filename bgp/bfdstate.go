package bgp

import (
	"time"

	"recuse/bgp/bfd"
)

// BFDState is what is known of a peer's BFD at one moment.
type BFDState struct {
	// State is "ADMIN_DOWN", "DOWN", "INIT" or "UP", Remote what the router
	// says of itself.
	State, Remote string
	// Since is when State began.
	Since time.Time
	// Multihop says that it is a session of RFC 5883, on UDP port 4784.
	Multihop bool
	// Detection is the silence after which the router counts as gone.
	Detection time.Duration
	// Interval is how often we send, RemoteInterval how often the router does.
	Interval, RemoteInterval time.Duration
	// LocalDiag and RemoteDiag are the last reasons to go down, in words.
	LocalDiag, RemoteDiag string
	// Sent and Received count packets, Discarded those that were refused, by
	// reason.
	Sent, Received uint64
	Discarded      map[string]uint64
	// Withheld counts packets that were not sent for want of liveness.
	Withheld uint64
	// WorstLate is the worst lateness of a packet of ours.
	WorstLate time.Duration
	// Transitions are the last ten, oldest first.
	Transitions []Transition
	// Scheduling is how the kernel schedules this process.
	Scheduling string
	// Trouble says in words why it is not up. Empty: it is, or has only just
	// begun.
	Trouble string
}

// Transition is one change of a BFD session.
type Transition struct {
	At               time.Time
	From, To, Reason string
}

// state returns the state for others to keep, nil without BFD. established
// says how BGP stands.
func (l *lifeline) state(established bool, now time.Time) *BFDState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conf == nil {
		return nil
	}
	s := l.shown()
	if s == nil {
		return &BFDState{State: bfd.Down.String(), Remote: bfd.Down.String(), Since: l.since,
			Trouble: bfdWords(l.fault, l.risen, established)}
	}
	status := s.session.Status()
	st := newBFDState(status)
	st.Scheduling = l.beat.scheduling(now)
	if now.Sub(l.since) >= patience {
		st.Trouble = bfdWords(status.Trouble(), l.risen, established)
	}
	return st
}

// shown returns the strand that is worth to be shown: the one that is up, or
// else has heard most. The caller holds mu.
func (l *lifeline) shown() *strand {
	if up := l.up(); up != nil {
		return up
	}
	var best *strand
	var heard uint64
	for _, s := range l.strands {
		if s.session == nil {
			continue
		}
		if n := s.session.Status().Received; best == nil || n > heard {
			best, heard = s, n
		}
	}
	return best
}

// newBFDState puts a status into plain words and numbers.
func newBFDState(s bfd.Status) *BFDState {
	st := &BFDState{
		State: s.State.String(), Remote: s.RemoteState.String(), Since: s.Since, Multihop: s.Multihop,
		Detection: s.Detection, Interval: s.TxInterval, RemoteInterval: s.RxInterval,
		LocalDiag: s.Diag.String(), RemoteDiag: s.RemoteDiag.String(),
		Sent: s.Sent, Received: s.Received, Withheld: s.Withheld,
		Discarded: make(map[string]uint64), WorstLate: s.Lateness.Worst,
	}
	for reason, n := range s.Discarded {
		st.Discarded[reason.String()] = n
	}
	for _, e := range s.History {
		st.Transitions = append(st.Transitions, Transition{At: e.At,
			From: e.From.String(), To: e.To.String(), Reason: e.Reason.String()})
	}
	return st
}
