package bfd

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// historyLen is how many transitions a session remembers.
const historyLen = 10

// An Event is one transition of a session.
type Event struct {
	At       time.Time
	From, To State
	Reason   Reason

	// What the two ends said of themselves after it.
	RemoteState      State
	Diag, RemoteDiag Diag
}

// String returns the transition in words.
func (e Event) String() string { return fmt.Sprintf("%v -> %v: %v", e.From, e.To, e.Reason) }

// A Status is what there is to know of a session at one moment.
type Status struct {
	Peer, Local netip.Addr // Local is not valid before a first packet left
	Interface   string
	Multihop    bool

	State, RemoteState State
	Diag, RemoteDiag   Diag
	Since              time.Time // of State
	History            []Event   // the last ten transitions, oldest first

	LocalDiscriminator, RemoteDiscriminator uint32

	// TxInterval and RxInterval are the agreed times between packets before
	// jitter. Detection is the silence after which we count the peer as gone,
	// zero before its first packet, RemoteDetection that after which the peer
	// counts us as gone.
	TxInterval, RxInterval     time.Duration
	Detection, RemoteDetection time.Duration

	// What the peer's last packet says of itself.
	RemoteMinTx, RemoteMinRx time.Duration
	RemoteMultiplier         uint8
	RemoteDemand             bool

	Polling bool // a Poll Sequence of ours is under way

	// When the last packet came that counted, when the last that did not, and
	// when we last learned that nobody listens on the peer's port. Zero: never.
	LastHeard, LastDiscarded, LastRefused time.Time

	Sent, Received uint64 // Received counts the accepted ones
	Discarded      map[Discard]uint64
	LastDiscard    Discard
	Withheld       uint64 // not sent, since Options.Alive said no
	SendErrors     uint64
	LastSendError  string

	Lateness Lateness // of our periodic packets
	Averted  uint64   // expiries that were none: packets waited in the socket
}

// A record is what a session keeps for its Status beside its machine.
type record struct {
	state     State // as of the last transition
	since     time.Time
	history   []Event
	counts    discardCounts
	discard   Discard   // the last one's
	discarded time.Time // when that was
	refused   time.Time
	sent      uint64
	withheld  uint64
	sendFails uint64
	sendErr   error
	lateness  Lateness
	averted   uint64
}

// transition remembers that the machine changed its state, and returns the
// event that tells of it.
func (r *record) transition(m *machine, why Reason, now time.Time) Event {
	e := Event{
		At: now, From: r.state, To: m.state, Reason: why,
		RemoteState: m.remoteState, Diag: m.localDiag, RemoteDiag: m.remoteDiag,
	}
	r.state, r.since = m.state, now
	if len(r.history) == historyLen {
		r.history = append(r.history[:0], r.history[1:]...)
	}
	r.history = append(r.history, e)
	return e
}

// received counts a packet that came at a moment, by its fate.
func (r *record) received(d Discard, at time.Time) {
	r.counts[d]++
	if d != Accepted {
		r.discard, r.discarded = d, at
	}
}

// sending counts a packet that left at a moment, or could not.
func (r *record) sending(err error, now time.Time) {
	switch {
	case errors.Is(err, errRefused):
		r.sent++
		r.refused = now
	case err != nil:
		r.sendFails++
		r.sendErr = err
	default:
		r.sent++
	}
}

// Status returns the state of the session and all that led to it.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, r := &s.m, &s.record
	st := Status{
		Peer: s.conf.Peer, Local: s.link.local(),
		Interface: s.conf.Interface, Multihop: s.conf.Multihop,
		State: m.state, RemoteState: m.remoteState,
		Diag: m.localDiag, RemoteDiag: m.remoteDiag,
		Since: r.since, History: append([]Event(nil), r.history...),
		LocalDiscriminator: m.localDiscr, RemoteDiscriminator: m.remoteDiscr,
		TxInterval: m.txInterval(), RxInterval: m.rxInterval(),
		Detection: m.detection(), RemoteDetection: m.remoteDetection(),
		RemoteMinTx: m.remoteMinTx, RemoteMinRx: m.remoteMinRx,
		RemoteMultiplier: m.remoteMult, RemoteDemand: m.remoteDemand,
		Polling:   m.poll.active(),
		LastHeard: s.heard, LastDiscarded: r.discarded, LastRefused: r.refused,
		Sent: r.sent, Received: r.counts[Accepted],
		Discarded: r.counts.snapshot(), LastDiscard: r.discard, Withheld: r.withheld,
		SendErrors: r.sendFails,
		Lateness:   r.lateness, Averted: r.averted,
	}
	if r.sendErr != nil {
		st.LastSendError = r.sendErr.Error()
	}
	return st
}
