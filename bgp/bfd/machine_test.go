package bfd

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testConfig is what the machines of the tests want.
var testConfig = config{minTx: 50 * ms, minRx: 60 * ms, detectMult: 3, minTTL: 255}

// testMachine returns a machine in a state that has told its peer all.
func testMachine(s State) machine {
	m := newMachine(testConfig, 11, 0)
	m.remoteDiscr = 22
	m.remoteState = s
	m.remoteMinTx, m.remoteMinRx, m.remoteMult = 70*ms, 80*ms, 5
	m.transition(s, DiagNone, ReasonNone)
	m.activeTx, m.activeRx, m.poll = m.desiredMinTx, m.requiredMinRx, pollIdle
	m, _ = m.emit(nil, false)
	return m
}

// from returns a packet as testMachine's peer sends it.
func from(s State) arrival {
	return arrival{ttl: 255, packet: Packet{
		State: s, Multiplier: 5, MyDiscriminator: 22, YourDiscriminator: 11,
		DesiredMinTx: 70 * ms, RequiredMinRx: 80 * ms,
	}}
}

// TestReceiveState holds every pair of our state and the received one.
func TestReceiveState(t *testing.T) {
	tests := []struct {
		state, received, want State
		diag                  Diag
		reason                Reason
		discard               Discard
	}{
		{AdminDown, AdminDown, AdminDown, DiagNone, ReasonNone, DiscardLocallyAdminDown},
		{AdminDown, Down, AdminDown, DiagNone, ReasonNone, DiscardLocallyAdminDown},
		{AdminDown, Init, AdminDown, DiagNone, ReasonNone, DiscardLocallyAdminDown},
		{AdminDown, Up, AdminDown, DiagNone, ReasonNone, DiscardLocallyAdminDown},
		{Down, AdminDown, Down, DiagNone, ReasonNone, Accepted},
		{Down, Down, Init, DiagNone, ReasonHeard, Accepted},
		{Down, Init, Up, DiagNone, ReasonHears, Accepted},
		{Down, Up, Down, DiagNone, ReasonNone, Accepted},
		{Init, AdminDown, Down, DiagNeighborDown, ReasonPeerAdminDown, Accepted},
		{Init, Down, Init, DiagNone, ReasonNone, Accepted},
		{Init, Init, Up, DiagNone, ReasonHears, Accepted},
		{Init, Up, Up, DiagNone, ReasonHears, Accepted},
		{Up, AdminDown, Down, DiagNeighborDown, ReasonPeerAdminDown, Accepted},
		{Up, Down, Down, DiagNeighborDown, ReasonPeerDown, Accepted},
		{Up, Init, Up, DiagNone, ReasonNone, Accepted},
		{Up, Up, Up, DiagNone, ReasonNone, Accepted},
	}
	for _, tt := range tests {
		t.Run(tt.state.String()+" receives "+tt.received.String(), func(t *testing.T) {
			before := testMachine(tt.state)
			m, e := before.receive(from(tt.received))
			if m.state != tt.want || m.localDiag != tt.diag {
				t.Errorf("became %v (%v), want %v (%v)", m.state, m.localDiag, tt.want, tt.diag)
			}
			if e.reason != tt.reason || e.discard != tt.discard {
				t.Errorf("reason %v, discard %v, want %v, %v", e.reason, e.discard, tt.reason, tt.discard)
			}
			if changed := tt.state != tt.want; e.urgent != changed {
				t.Errorf("urgent %t, changed %t", e.urgent, changed)
			}
			if m.remoteState != tt.received {
				t.Errorf("remote state %v, want %v", m.remoteState, tt.received)
			}
			if before.state != tt.state {
				t.Error("the machine before was changed")
			}
		})
	}
}

// TestDiagUntilUp follows a diagnostic: it stays while the session comes back,
// so that the peer's operator can read it, and is gone once it is up.
func TestDiagUntilUp(t *testing.T) {
	m, _ := testMachine(Up).expire()
	for _, step := range []struct {
		receive State
		state   State
		diag    Diag
	}{
		{Down, Init, DiagExpired},
		{Init, Up, DiagNone},
	} {
		m, _ = m.receive(from(step.receive))
		if m.state != step.state || m.localDiag != step.diag {
			t.Errorf("after %v: %v, %v, want %v, %v", step.receive, m.state, m.localDiag, step.state, step.diag)
		}
	}
}

// TestOtherTransitions holds all that moves a session beside packets.
func TestOtherTransitions(t *testing.T) {
	expire := func(m machine) (machine, effect) { return m.expire() }
	disable := func(m machine) (machine, effect) { return m.administer(true) }
	enable := func(m machine) (machine, effect) { return m.administer(false) }
	tests := []struct {
		name       string
		event      func(machine) (machine, effect)
		state      State
		want       State
		diag       Diag
		reason     Reason
		forgetsYou bool
	}{
		{"silence, admin down", expire, AdminDown, AdminDown, DiagNone, ReasonNone, true},
		{"silence, down", expire, Down, Down, DiagNone, ReasonNone, true},
		{"silence, init", expire, Init, Down, DiagExpired, ReasonExpired, true},
		{"silence, up", expire, Up, Down, DiagExpired, ReasonExpired, true},
		{"disabled, admin down", disable, AdminDown, AdminDown, DiagNone, ReasonNone, false},
		{"disabled, down", disable, Down, AdminDown, DiagAdminDown, ReasonDisabled, false},
		{"disabled, init", disable, Init, AdminDown, DiagAdminDown, ReasonDisabled, false},
		{"disabled, up", disable, Up, AdminDown, DiagAdminDown, ReasonDisabled, false},
		{"enabled, admin down", enable, AdminDown, Down, DiagNone, ReasonEnabled, false},
		{"enabled, down", enable, Down, Down, DiagNone, ReasonNone, false},
		{"enabled, init", enable, Init, Init, DiagNone, ReasonNone, false},
		{"enabled, up", enable, Up, Up, DiagNone, ReasonNone, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, e := tt.event(testMachine(tt.state))
			if m.state != tt.want || m.localDiag != tt.diag || e.reason != tt.reason {
				t.Errorf("got %v, %v, %v, want %v, %v, %v",
					m.state, m.localDiag, e.reason, tt.want, tt.diag, tt.reason)
			}
			if e.urgent != (tt.reason != ReasonNone) {
				t.Errorf("urgent %t", e.urgent)
			}
			if (m.remoteDiscr == 0) != tt.forgetsYou {
				t.Errorf("remote discriminator %d", m.remoteDiscr)
			}
		})
	}
}

// TestExpireForgets checks that a peer that wanted no packets and was in
// Demand mode is spoken to again once it has gone.
func TestExpireForgets(t *testing.T) {
	in := from(Up)
	in.packet.RequiredMinRx, in.packet.Demand = 0, true
	m, _ := testMachine(Up).receive(in)
	if m.periodic() {
		t.Fatal("sends to a peer that wants nothing")
	}
	m, _ = m.expire()
	if !m.periodic() || m.remoteState != Down {
		t.Errorf("periodic %t, remote state %v", m.periodic(), m.remoteState)
	}
	if want := 5 * 70 * ms; m.detection() != want {
		t.Errorf("detection time %v, want %v as before", m.detection(), want)
	}
}

func TestReceiveVariables(t *testing.T) {
	in := from(Init)
	in.packet = Packet{
		Diag: DiagPathDown, State: Init, Demand: true, Multiplier: 9,
		MyDiscriminator: 33, DesiredMinTx: 110 * ms, RequiredMinRx: 120 * ms,
	}
	got, _ := testMachine(Up).receive(in)
	want := testMachine(Up)
	want.remoteDiag, want.remoteState, want.remoteDemand = DiagPathDown, Init, true
	want.remoteMult, want.remoteDiscr = 9, 33
	want.remoteMinTx, want.remoteMinRx = 110*ms, 120*ms
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(machine{}, config{}, sequence{})); diff != "" {
		t.Errorf("unexpected variables (-want +got):\n%s", diff)
	}
}

func TestReceiveDiscards(t *testing.T) {
	secret := testAuth(MeticulousKeyedSHA1)
	signed := func(seq uint32) arrival {
		in := from(Down)
		in.raw = secret.sign(nil, in.packet, seq)
		in.packet, _ = Parse(in.raw)
		return in
	}
	far := from(Down)
	far.ttl = 254
	known := func(last uint32) func(*machine) {
		return func(m *machine) { m.auth, m.rcvSeq = secret, sequence{true, last} }
	}
	silent := func(in arrival, d time.Duration) arrival { in.silence = d; return in }
	twice := 2 * 5 * 70 * ms // the detection time of testMachine's peer
	tests := []struct {
		name   string
		change func(*machine)
		in     arrival
		want   Discard
	}{
		{"good", func(*machine) {}, from(Down), Accepted},
		{"from afar", func(*machine) {}, far, DiscardTTL},
		{"from afar, multihop", func(m *machine) { m.minTTL = 254 }, far, Accepted},
		{"authentication expected", func(m *machine) { m.auth = secret }, from(Down), DiscardAuthMissing},
		{"authentication unexpected", func(*machine) {}, signed(1), DiscardAuthUnexpected},
		{"first number", func(m *machine) { m.auth = secret }, signed(1), Accepted},
		{"next number", known(1), signed(2), Accepted},
		{"same number", known(1), signed(1), DiscardAuthSequence},
		{"same number, not long after", known(1), silent(signed(1), twice-1), DiscardAuthSequence},
		{"same number, twice the detection time after", known(1), silent(signed(1), twice), Accepted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := testMachine(Down)
			tt.change(&before)
			m, e := before.receive(tt.in)
			if e.discard != tt.want {
				t.Errorf("got %v, want %v", e.discard, tt.want)
			}
			if tt.want != Accepted && m.state != Down {
				t.Errorf("a discarded packet led to %v", m.state)
			}
		})
	}
}

// TestDiscardChangesNothing: a packet that is refused leaves no trace.
func TestDiscardChangesNothing(t *testing.T) {
	in := from(Down)
	in.ttl, in.packet.MyDiscriminator, in.packet.Poll = 1, 99, true
	want := testMachine(Up)
	got, e := want.receive(in)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(machine{}, config{}, sequence{})); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if e != (effect{discard: DiscardTTL}) {
		t.Errorf("effect %+v", e)
	}
}

func TestPollIsAnswered(t *testing.T) {
	for _, s := range []State{Down, Init, Up} {
		in := from(s)
		in.packet.Poll = true
		m, e := testMachine(s).receive(in)
		if !e.final {
			t.Errorf("%v: no answer", s)
		}
		m.poll = pollNew // even now the answer carries no Poll
		_, b := m.emit(nil, true)
		if p, _ := Parse(b); !p.Final || p.Poll {
			t.Errorf("%v: final %t, poll %t", s, p.Final, p.Poll)
		}
	}
	in := from(Up)
	in.packet.Poll = true
	if _, e := testMachine(AdminDown).receive(in); e.final {
		t.Error("answered though the packet is discarded")
	}
}

func TestDiscriminatorChange(t *testing.T) {
	in := from(Up)
	in.packet.MyDiscriminator = 77
	m, e := testMachine(Up).receive(in)
	if m.state != Up || !e.urgent {
		t.Errorf("state %v, urgent %t", m.state, e.urgent)
	}
	if _, b := m.emit(nil, false); b[11] != 77 {
		t.Errorf("your discriminator %d", b[11])
	}
}

// TestIntervalChanges is RFC 5880, section 6.8.3: which changes wait for the
// Final while the session is up, and that none does while it is not.
func TestIntervalChanges(t *testing.T) {
	tests := []struct {
		name           string
		state          State
		tx, rx         time.Duration
		beforeFinal    [2]time.Duration // activeTx, activeRx
		afterFinal     [2]time.Duration
		advertised     [2]time.Duration
		pollsAndIsTold bool
	}{
		{"up, the same", Up, 50 * ms, 60 * ms, [2]time.Duration{50 * ms, 60 * ms}, [2]time.Duration{50 * ms, 60 * ms}, [2]time.Duration{50 * ms, 60 * ms}, false},
		{"up, tx shorter", Up, 40 * ms, 60 * ms, [2]time.Duration{40 * ms, 60 * ms}, [2]time.Duration{40 * ms, 60 * ms}, [2]time.Duration{40 * ms, 60 * ms}, true},
		{"up, tx longer", Up, 90 * ms, 60 * ms, [2]time.Duration{50 * ms, 60 * ms}, [2]time.Duration{90 * ms, 60 * ms}, [2]time.Duration{90 * ms, 60 * ms}, true},
		{"up, rx shorter", Up, 50 * ms, 30 * ms, [2]time.Duration{50 * ms, 60 * ms}, [2]time.Duration{50 * ms, 30 * ms}, [2]time.Duration{50 * ms, 30 * ms}, true},
		{"up, rx longer", Up, 50 * ms, 90 * ms, [2]time.Duration{50 * ms, 90 * ms}, [2]time.Duration{50 * ms, 90 * ms}, [2]time.Duration{50 * ms, 90 * ms}, true},
		{"down, tx below a second", Down, 90 * ms, 60 * ms, [2]time.Duration{time.Second, 60 * ms}, [2]time.Duration{time.Second, 60 * ms}, [2]time.Duration{time.Second, 60 * ms}, false},
		{"down, tx above a second", Down, 2 * time.Second, 60 * ms, [2]time.Duration{2 * time.Second, 60 * ms}, [2]time.Duration{2 * time.Second, 60 * ms}, [2]time.Duration{2 * time.Second, 60 * ms}, true},
		{"down, rx shorter", Down, 50 * ms, 30 * ms, [2]time.Duration{time.Second, 30 * ms}, [2]time.Duration{time.Second, 30 * ms}, [2]time.Duration{time.Second, 30 * ms}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, e := testMachine(tt.state).update(tt.tx, tt.rx, 3)
			if e.urgent != tt.pollsAndIsTold || m.poll.active() != tt.pollsAndIsTold {
				t.Errorf("urgent %t, poll %d", e.urgent, m.poll)
			}
			if got := [2]time.Duration{m.desiredMinTx, m.requiredMinRx}; got != tt.advertised {
				t.Errorf("advertised %v, want %v", got, tt.advertised)
			}
			m, _ = m.emit(nil, false)
			if got := [2]time.Duration{m.activeTx, m.activeRx}; got != tt.beforeFinal {
				t.Errorf("before the final %v, want %v", got, tt.beforeFinal)
			}
			in := from(tt.state)
			in.packet.State, in.packet.Final = tt.state, true
			if tt.state == Down {
				in.packet.State = AdminDown // which leaves Down as it is
			}
			m, _ = m.receive(in)
			if got := [2]time.Duration{m.activeTx, m.activeRx}; got != tt.afterFinal {
				t.Errorf("after the final %v, want %v", got, tt.afterFinal)
			}
			if m.poll != pollIdle {
				t.Errorf("poll %d after the final", m.poll)
			}
		})
	}
}

// TestChangeWhilePolling: a Final that answers an older Poll does not bring a
// newer value into force.
func TestChangeWhilePolling(t *testing.T) {
	final, plain := from(Up), from(Up)
	final.packet.Final = true
	m, _ := testMachine(Up).update(90*ms, 60*ms, 3)
	m, _ = m.emit(nil, false)
	m, _ = m.update(200*ms, 60*ms, 3)
	m, _ = m.emit(nil, false) // the newer value leaves too, before any answer
	steps := []struct {
		in   arrival
		want time.Duration
	}{
		{final, 50 * ms},  // to the 90 ms; nobody answered the 200 ms yet
		{final, 50 * ms},  // a copy of it
		{plain, 50 * ms},  // lets the next Poll Sequence begin
		{final, 50 * ms},  // a late copy, before that Poll has left
		{plain, 50 * ms},  // which is emitted after this one
		{final, 200 * ms}, // its answer
	}
	for i, step := range steps {
		if i == len(steps)-1 {
			m, _ = m.emit(nil, false)
		}
		m, _ = m.receive(step.in)
		if m.activeTx != step.want {
			t.Errorf("step %d: %v, want %v", i, m.activeTx, step.want)
		}
	}
}

// TestGoingUpAndDownPolls: the interval changes with the state, so the peer is
// polled both times, and neither change waits.
func TestGoingUpAndDownPolls(t *testing.T) {
	m, _ := testMachine(Init).receive(from(Up))
	if m.desiredMinTx != 50*ms || m.activeTx != 50*ms || m.poll != pollNew {
		t.Errorf("up: desired %v, active %v, poll %d", m.desiredMinTx, m.activeTx, m.poll)
	}
	m, _ = testMachine(Up).receive(from(Down))
	if m.desiredMinTx != time.Second || m.activeTx != time.Second || m.poll != pollNew {
		t.Errorf("down: desired %v, active %v, poll %d", m.desiredMinTx, m.activeTx, m.poll)
	}
}

// TestDemandIsTold: a peer in Demand mode gets no periodic packets, so each
// change reaches it by a Poll Sequence (RFC 5880, section 6.6).
func TestDemandIsTold(t *testing.T) {
	in := from(Up)
	in.packet.Demand = true
	m, _ := testMachine(Up).receive(in)
	if m.periodic() || m.poll.active() {
		t.Fatalf("periodic %t, poll %d", m.periodic(), m.poll)
	}
	multiplier, e := m.update(50*ms, 60*ms, 4)
	if !e.urgent || !multiplier.poll.active() || !multiplier.periodic() {
		t.Errorf("multiplier: urgent %t, poll %d", e.urgent, multiplier.poll)
	}
	in.packet.MyDiscriminator = 77
	discriminator, e := m.receive(in)
	if !e.urgent || !discriminator.poll.active() {
		t.Errorf("discriminator: urgent %t, poll %d", e.urgent, discriminator.poll)
	}
}

func TestEmitAuthenticates(t *testing.T) {
	m := testMachine(Down)
	m.auth, m.xmitSeq = testAuth(MeticulousKeyedMD5), 1<<32-1
	seen := sequence{}
	for _, want := range []uint32{0, 1, 2} {
		var b []byte
		m, b = m.emit(nil, false)
		var d Discard
		if seen, d = verifyRaw(t, m.auth, b, seen); d != Accepted || seen.last != want {
			t.Errorf("number %d, %v, want %d", seen.last, d, want)
		}
	}
}
