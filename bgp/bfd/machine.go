package bfd

import "time"

// A machine is one end of a session: the state variables of RFC 5880, section
// 6.8.1, under the RFC's names as far as Go allows. It is a value. Its methods
// know no clock, socket or log; whoever drives it carries out what they ask.
type machine struct {
	config // what the user wants; see Session.Update

	state       State // bfd.SessionState; written by transition alone
	remoteState State // bfd.RemoteSessionState
	localDiscr  uint32
	remoteDiscr uint32
	localDiag   Diag
	remoteDiag  Diag

	// What we advertise, and what we use: they differ from a change until
	// the Final that tells that the peer knows of it (see advertise).
	desiredMinTx, activeTx  time.Duration
	requiredMinRx, activeRx time.Duration

	remoteMinTx  time.Duration
	remoteMinRx  time.Duration
	remoteMult   uint8
	remoteDemand bool

	poll    poll
	xmitSeq uint32   // bfd.XmitAuthSeq
	rcvSeq  sequence // bfd.RcvAuthSeq and bfd.AuthSeqKnown

	told [packetLen]byte // what the last packet said; see contents
}

// A config is that part of a session's configuration which its machine needs.
type config struct {
	minTx, minRx time.Duration
	detectMult   uint8
	minTTL       uint8
	auth         *Auth // nil: no authentication
}

// newMachine returns a machine with the initial values of RFC 5880, section
// 6.8.1. discr is not zero, seq is random.
func newMachine(c config, discr, seq uint32) machine {
	tx := desiredTx(Down, c.minTx)
	return machine{
		config:        c,
		state:         Down,
		remoteState:   Down,
		localDiscr:    discr,
		desiredMinTx:  tx,
		activeTx:      tx,
		requiredMinRx: c.minRx,
		activeRx:      c.minRx,
		remoteMinRx:   time.Microsecond,
		xmitSeq:       seq,
	}
}

// An arrival is a packet that has been parsed and found to be the session's.
type arrival struct {
	packet  Packet
	raw     []byte        // as it came, to authenticate it
	ttl     int           // its TTL or hop limit
	silence time.Duration // since the last packet that was accepted
}

// An effect is what a machine asks of its driver after an event.
type effect struct {
	discard Discard // the packet does not count, for this reason
	reason  Reason  // the state changed, for this reason
	final   bool    // a packet with Final must leave at once
	urgent  bool    // the peer should be told at once what changed
}

// receive is RFC 5880, section 6.8.6, from where the session has been found:
// step by step, in that order. The steps before are Parse and Engine.find.
func (m machine) receive(in arrival) (machine, effect) {
	p := &in.packet

	// RFC 5881, section 5: single hop needs 255. RFC 5883: as configured.
	if in.ttl < int(m.minTTL) {
		return m, effect{discard: DiscardTTL}
	}

	// "If the A bit is set and no authentication is in use ...", and so on.
	seq, discard := m.authenticate(in)
	if discard != Accepted {
		return m, effect{discard: discard}
	}
	m.rcvSeq = seq

	// "Set bfd.RemoteDiscr to the value of My Discriminator", and so on. A
	// changed discriminator is a peer that made its session anew.
	m.remoteDiscr = p.MyDiscriminator
	m.remoteState = p.State
	m.remoteDiag = p.Diag
	m.remoteDemand = p.Demand
	m.remoteMinRx = p.RequiredMinRx
	m.remoteMinTx = p.DesiredMinTx
	m.remoteMult = p.Multiplier

	// "If a Poll Sequence is being transmitted ... and the Final (F) bit in
	// the received packet is set, the Poll Sequence MUST be terminated."
	// The transmit interval and the detection time follow by themselves.
	m.receiveFinal(p.Final)

	if m.state == AdminDown {
		return m, effect{discard: DiscardLocallyAdminDown}
	}
	reason := m.receiveState(p.State)
	return m, effect{reason: reason, final: p.Poll, urgent: m.tellDemanding()}
}

// authenticate makes the checks of RFC 5880, section 6.7. After twice the
// detection time without a packet any sequence number will do (6.8.1).
func (m *machine) authenticate(in arrival) (sequence, Discard) {
	switch {
	case in.packet.Auth == nil && m.auth == nil:
		return m.rcvSeq, Accepted
	case in.packet.Auth == nil:
		return m.rcvSeq, DiscardAuthMissing
	case m.auth == nil:
		return m.rcvSeq, DiscardAuthUnexpected
	}
	seq := m.rcvSeq
	if in.silence >= 2*m.detection() {
		seq.known = false
	}
	return m.auth.verify(in.raw, &in.packet, seq)
}

// receiveFinal lets new intervals come into force whose Poll Sequence the
// peer's Final has ended.
func (m *machine) receiveFinal(final bool) {
	var done bool
	if m.poll, done = m.poll.received(final); done {
		m.activeTx, m.activeRx = m.desiredMinTx, m.requiredMinRx
	}
}

// receiveState is the state machine (RFC 5880, sections 6.2 and 6.8.6) for a
// machine that is not AdminDown. It returns why the state changed, if it did.
func (m *machine) receiveState(remote State) Reason {
	switch {
	case remote == AdminDown && m.state != Down:
		return m.transition(Down, DiagNeighborDown, ReasonPeerAdminDown)
	case m.state == Down && remote == Down:
		return m.transition(Init, m.localDiag, ReasonHeard)
	case m.state == Down && remote == Init:
		return m.transition(Up, DiagNone, ReasonHears)
	case m.state == Init && (remote == Init || remote == Up):
		return m.transition(Up, DiagNone, ReasonHears)
	case m.state == Up && remote == Down:
		return m.transition(Down, DiagNeighborDown, ReasonPeerDown)
	}
	return ReasonNone
}

// expire tells the machine that the detection time passed without a packet
// (RFC 5880, sections 6.8.1 and 6.8.4). Besides going down it forgets what
// named the peer's session and what kept us from sending to it.
func (m machine) expire() (machine, effect) {
	m.remoteDiscr = 0
	m.remoteState = Down
	m.remoteMinRx = time.Microsecond
	if m.state != Init && m.state != Up {
		return m, effect{}
	}
	return m, effect{reason: m.transition(Down, DiagExpired, ReasonExpired), urgent: true}
}

// administer takes the session down or lets it come up again (RFC 5880,
// section 6.8.16). Saying the same again changes nothing.
func (m machine) administer(down bool) (machine, effect) {
	switch {
	case down && m.state != AdminDown:
		return m, effect{reason: m.transition(AdminDown, DiagAdminDown, ReasonDisabled), urgent: true}
	case !down && m.state == AdminDown:
		return m, effect{reason: m.transition(Down, DiagNone, ReasonEnabled), urgent: true}
	}
	return m, effect{}
}

// update takes new intervals and a new multiplier over.
func (m machine) update(minTx, minRx time.Duration, mult uint8) (machine, effect) {
	m.minTx, m.minRx, m.detectMult = minTx, minRx, mult
	m.advertise()
	return m, effect{urgent: m.tellDemanding()}
}

// tellDemanding reports whether there is something new to say, and begins a
// Poll Sequence for it if the peer is in Demand mode: such a peer gets to
// know of changes in no other way (RFC 5880, section 6.6).
func (m *machine) tellDemanding() bool {
	changed := m.changed()
	if changed && m.remoteDemandActive() {
		m.poll = m.poll.request()
	}
	return changed
}

// transition is the one place where a session changes its state. It returns
// reason, for its caller to pass on.
func (m *machine) transition(to State, diag Diag, reason Reason) Reason {
	m.state = to
	m.localDiag = diag
	m.advertise()
	return reason
}

// advertise sets the intervals that fit the state and the configuration, and
// begins a Poll Sequence if they changed (RFC 5880, section 6.8.3).
//
// While Up, two changes wait for its end: we do not send more slowly before
// the peer has been told to be patient, and we do not become impatient before
// the peer has been told to send faster. All others are in force at once.
func (m *machine) advertise() {
	tx, rx := desiredTx(m.state, m.minTx), m.minRx
	if tx != m.desiredMinTx || rx != m.requiredMinRx {
		m.poll = m.poll.request()
	}
	m.desiredMinTx, m.requiredMinRx = tx, rx
	if m.state != Up || tx < m.activeTx {
		m.activeTx = tx
	}
	if m.state != Up || rx > m.activeRx {
		m.activeRx = rx
	}
}

// contents returns what the next packet says, without Poll and Final (RFC
// 5880, section 6.8.7).
func (m *machine) contents() Packet {
	return Packet{
		Diag:              m.localDiag,
		State:             m.state,
		Multiplier:        m.detectMult,
		MyDiscriminator:   m.localDiscr,
		YourDiscriminator: m.remoteDiscr,
		DesiredMinTx:      m.desiredMinTx,
		RequiredMinRx:     m.requiredMinRx,
	}
}

// says returns contents in bytes, for comparison.
func (m *machine) says() (b [packetLen]byte) {
	p := m.contents()
	p.AppendTo(b[:0])
	return b
}

// changed reports whether the next packet says something new.
func (m *machine) changed() bool { return m.says() != m.told }

// emit appends the next packet to b and takes note that it leaves: an answer
// to a Poll if final, else one with Poll while a Poll Sequence is under way.
func (m machine) emit(b []byte, final bool) (machine, []byte) {
	m.told = m.says()
	p := m.contents()
	p.Final = final
	if !final && m.poll.active() {
		p.Poll = true
		m.poll = m.poll.sent()
	}
	if m.auth == nil {
		return m, p.AppendTo(b)
	}
	m.xmitSeq++
	return m, m.auth.sign(b, p, m.xmitSeq)
}
