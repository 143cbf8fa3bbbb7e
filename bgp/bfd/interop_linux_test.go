package bfd

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A trial is our sessions on all ways of a lab, and the router against them.
type trial struct {
	*lab
	router
	ways     []way
	sessions []*Session // in the order of ways
	settings settings   // the router's
}

// normal is how the trials begin on both ends.
var normal = settings{tx: 100 * ms, rx: 100 * ms, mult: 3}

// newTrial starts both ends with equal settings and waits until all sessions
// are up.
func newTrial(t testing.TB, l *lab, mk func(*lab, []way) router, s settings) *trial {
	t.Helper()
	return newTrialOn(l, mk, s, ways)
}

// newTrialOn is newTrial on other ways than those of every lab.
func newTrialOn(l *lab, mk func(*lab, []way) router, s settings, ways []way) *trial {
	l.t.Helper()
	tr := &trial{lab: l, router: mk(l, ways), ways: ways, settings: s}
	tr.start(s)
	for _, w := range ways {
		tr.add(w, s)
	}
	tr.awaitAll(Up)
	return tr
}

// add adds our session on a way.
func (tr *trial) add(w way, s settings) {
	tr.t.Helper()
	session, err := tr.engine.Add(Config{
		Peer: w.his, Local: w.our, Interface: w.ours, Multihop: w.multihop,
		DesiredMinTx: s.tx, RequiredMinRx: s.rx, Multiplier: uint8(s.mult), Auth: s.auth,
	}, nil)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.sessions = append(tr.sessions, session)
}

// awaitAll waits until all our sessions are in a state, and returns how long
// the last one took.
func (tr *trial) awaitAll(s State) time.Duration {
	tr.t.Helper()
	return tr.await("all are "+s.String(), func(st Status) bool { return st.State == s })
}

// await waits until the status of each session is as ok says.
func (tr *trial) await(what string, ok func(Status) bool) time.Duration {
	tr.t.Helper()
	return tr.eventually(what, 15*time.Second, func() bool {
		for _, s := range tr.sessions {
			if !ok(s.Status()) {
				return false
			}
		}
		return true
	}, tr.describe)
}

// describe prints both ends.
func (tr *trial) describe() string {
	out := fmt.Sprintf("engine discarded: %v\n", tr.engine.Discarded())
	for i, s := range tr.sessions {
		st := s.Status()
		out += fmt.Sprintf("%s: %v, remote %v, sent %d, received %d, discarded %v, tx %v, rx %v, detection %v, polling %t, errors %d %s\n",
			tr.ways[i].name, st.State, st.RemoteState, st.Sent, st.Received, st.Discarded, st.TxInterval, st.RxInterval, st.Detection, st.Polling, st.SendErrors, st.LastSendError)
		for _, e := range st.History {
			out += fmt.Sprintf("  %s %v (diag %v, remote %v)\n", e.At.Format("05.000"), e, e.Diag, e.RemoteDiag)
		}
	}
	return out + tr.show()
}

// change sets the router's settings by f.
func (tr *trial) change(f func(*settings)) {
	tr.t.Helper()
	f(&tr.settings)
	tr.apply(tr.settings)
}

// transitions returns how often each session has changed its state.
func (tr *trial) transitions() string {
	var all []string
	for _, s := range tr.sessions {
		st := s.Status()
		all = append(all, fmt.Sprint(len(st.History), st.Since.UnixNano()))
	}
	return strings.Join(all, ", ")
}

// went fails the test unless each session last left Up for one of reasons.
func (tr *trial) went(reasons ...Reason) {
	tr.t.Helper()
	for i, s := range tr.sessions {
		var last Reason
		for _, e := range s.Status().History {
			if e.From == Up {
				last = e.Reason
			}
		}
		good := false
		for _, r := range reasons {
			good = good || r == last
		}
		if !good {
			tr.t.Errorf("%s: left Up since %v, want one of %v\n%s", tr.ways[i].name, last, reasons, tr.describe())
		}
	}
}

// inTime fails the test unless each session went down after the detection time
// had passed, by the kernel's clock of the last packet, and not long after.
func (tr *trial) inTime(detection time.Duration) {
	tr.t.Helper()
	for i, s := range tr.sessions {
		st := s.Status()
		silence := st.Since.Sub(st.LastHeard)
		tr.t.Logf("%s: down after a silence of %v", tr.ways[i].name, silence)
		if silence < detection || silence > detection+3*time.Second {
			tr.t.Errorf("%s: down after a silence of %v, want %v", tr.ways[i].name, silence, detection)
		}
	}
}

// TestInterop runs what happens to sessions in practice, on all ways at once.
func TestInterop(t *testing.T) {
	tests := []struct {
		name     string
		settings settings
		run      func(*testing.T, *trial)
	}{
		{"up", normal, up},
		{"ours renegotiates", normal, oursRenegotiates},
		{"the router renegotiates", normal, routerRenegotiates},
		{"intervals differ", normal, intervalsDiffer},
		{"50 ms x 3", settings{tx: 50 * ms, rx: 50 * ms, mult: 3}, fiftyTimesThree},
		{"the router is taken down", normal, routerAdminDown},
		{"we are taken down", normal, weAdminDown},
		{"the router is killed", normal, routerKilled},
		{"the router is frozen", normal, routerFrozen},
		{"packets to the router are lost", normal, lostTo},
		{"packets from the router are lost", normal, lostFrom},
		{"ten flaps", normal, tenFlaps},
		{"the router restarts", settings{tx: 100 * ms, rx: 100 * ms, mult: 50}, routerRestarts},
		{"we restart", settings{tx: 100 * ms, rx: 100 * ms, mult: 20}, weRestart},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachRouter(t, func(t *testing.T, l *lab, mk func(*lab, []way) router) {
				tt.run(t, newTrial(t, l, mk, tt.settings))
			})
		})
	}
}

// up: the agreed intervals come into force by Poll Sequences of both ends.
func up(t *testing.T, tr *trial) {
	tr.await("100 ms x 3", func(st Status) bool {
		return !st.Polling && st.TxInterval == 100*ms && st.RxInterval == 100*ms && st.Detection == 300*ms
	})
}

// oursRenegotiates: slower and faster again, with nobody going down.
func oursRenegotiates(t *testing.T, tr *trial) {
	before := tr.transitions()
	for _, d := range []time.Duration{400 * ms, 60 * ms} {
		for _, s := range tr.sessions {
			if err := s.Update(Intervals{DesiredMinTx: d, RequiredMinRx: d, Multiplier: 4}); err != nil {
				t.Fatal(err)
			}
		}
		want := max(d, 100*ms)
		tr.await(fmt.Sprint("agreed on ", want), func(st Status) bool {
			return !st.Polling && st.TxInterval == want && st.RxInterval == want && st.Detection == 3*want
		})
	}
	if after := tr.transitions(); after != before {
		t.Errorf("went down meanwhile\n%s", tr.describe())
	}
}

// routerRenegotiates: the same from the other end.
func routerRenegotiates(t *testing.T, tr *trial) {
	for _, d := range []time.Duration{400 * ms, 60 * ms} {
		tr.change(func(s *settings) { s.tx, s.rx, s.mult = d, d, 5 })
		want := max(d, 100*ms)
		tr.await(fmt.Sprint("agreed on ", want), func(st Status) bool {
			return st.State == Up && st.TxInterval == want && st.RxInterval == want && st.Detection == 5*want
		})
	}
}

// intervalsDiffer: each direction and each detection time by itself.
func intervalsDiffer(t *testing.T, tr *trial) {
	for _, s := range tr.sessions {
		if err := s.Update(Intervals{DesiredMinTx: 120 * ms, RequiredMinRx: 200 * ms, Multiplier: 4}); err != nil {
			t.Fatal(err)
		}
	}
	tr.change(func(s *settings) { s.tx, s.rx, s.mult = 300*ms, 80*ms, 5 })
	tr.await("120 ms to the router, 300 ms from it", func(st Status) bool {
		return st.State == Up && !st.Polling && st.TxInterval == 120*ms && st.RxInterval == 300*ms &&
			st.Detection == 1500*ms && st.RemoteDetection == 480*ms
	})
}

// fiftyTimesThree: the pace that is offered with real-time scheduling. Here it
// only has to be agreed on: a loaded machine may lose a session for a moment.
func fiftyTimesThree(t *testing.T, tr *trial) {
	tr.await("50 ms x 3", func(st Status) bool {
		return st.State == Up && !st.Polling && st.TxInterval == 50*ms && st.Detection == 150*ms
	})
	tr.await("a hundred packets each way", func(st Status) bool { return st.Sent > 100 && st.Received > 100 })
	tr.awaitAll(Up)
	for i, s := range tr.sessions {
		st := s.Status()
		t.Logf("%s: %d transitions, worst lateness %v", tr.ways[i].name, len(st.History), st.Lateness.Worst)
	}
}

// routerAdminDown: the router's operator takes the sessions down and up. BIRD
// has no such command: a disabled protocol forgets its sessions in silence.
func routerAdminDown(t *testing.T, tr *trial) {
	tr.change(func(s *settings) { s.adminDown = true })
	tr.await("no session is up", func(st Status) bool { return st.State != Up })
	if _, ok := tr.router.(*frr); ok {
		tr.went(ReasonPeerAdminDown)
		tr.await("the router says so", func(st Status) bool { return st.RemoteState == AdminDown })
	} else {
		tr.went(ReasonPeerAdminDown, ReasonExpired)
	}
	tr.change(func(s *settings) { s.adminDown = false })
	tr.awaitAll(Up)
}

// weAdminDown: the router hears that we are taken down.
func weAdminDown(t *testing.T, tr *trial) {
	for _, s := range tr.sessions {
		s.SetAdminDown(true)
	}
	tr.await("the router is down", func(st Status) bool { return st.RemoteState == Down })
	tr.await("since we said so", func(st Status) bool { return st.RemoteDiag == DiagNeighborDown })
	for _, s := range tr.sessions {
		s.SetAdminDown(false)
	}
	tr.awaitAll(Up)
}

// routerKilled: nothing is heard any more, and a new process is found again.
func routerKilled(t *testing.T, tr *trial) {
	tr.kill()
	tr.awaitAll(Down)
	tr.went(ReasonExpired)
	tr.start(tr.settings)
	tr.awaitAll(Up)
}

// kill kills the router's process and waits for its end.
func (tr *trial) kill() {
	switch r := tr.router.(type) {
	case *frr:
		r.bfdd.kill()
	case *bird:
		r.daemon.kill()
	}
}

// routerFrozen: the process stands still, as if its machine did.
func routerFrozen(t *testing.T, tr *trial) {
	if err := syscall.Kill(tr.pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	tr.awaitAll(Down)
	tr.went(ReasonExpired)
	tr.inTime(300 * ms)
	if err := syscall.Kill(tr.pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	tr.awaitAll(Up)
}

// lostTo: the router hears nothing and says so, and we believe it.
func lostTo(t *testing.T, tr *trial) {
	tr.nft("input udp dport { 3784, 4784 } drop")
	tr.await("no session is up", func(st Status) bool { return st.State != Up })
	tr.went(ReasonPeerDown)
	tr.await("the router says why", func(st Status) bool { return st.RemoteDiag == DiagExpired })
	tr.nft()
	tr.awaitAll(Up)
}

// lostFrom: we hear nothing, and the router learns of it from us.
func lostFrom(t *testing.T, tr *trial) {
	tr.nft("output udp dport { 3784, 4784 } drop")
	tr.awaitAll(Down)
	tr.went(ReasonExpired)
	tr.nft()
	tr.await("the router was told", func(st Status) bool { return st.State == Up || st.RemoteDiag == DiagNeighborDown })
	tr.awaitAll(Up)
}

// tenFlaps: each time all packets are lost, both ways.
func tenFlaps(t *testing.T, tr *trial) {
	for range 10 {
		tr.nft("input udp dport { 3784, 4784 } drop", "output udp dport { 3784, 4784 } drop")
		tr.awaitAll(Down)
		tr.nft()
		tr.awaitAll(Up)
	}
}

// routerRestarts within the detection time, here 5 s: the new process says
// that it is down, which we believe at once.
func routerRestarts(t *testing.T, tr *trial) {
	before := make(map[uint32]bool)
	for _, s := range tr.sessions {
		before[s.Status().RemoteDiscriminator] = true
	}
	tr.kill()
	tr.start(tr.settings)
	tr.await("the router is known by new names", func(st Status) bool {
		return st.State == Up && !before[st.RemoteDiscriminator]
	})
	tr.went(ReasonPeerDown)
}

// weRestart within the detection time of the router, here 2 s. FRR and BIRD let
// nobody who lacks their discriminator take a session down that is up, so they
// first have to find out by themselves.
func weRestart(t *testing.T, tr *trial) {
	tr.await("no poll is under way", func(st Status) bool { return !st.Polling && st.Detection == 2*time.Second })
	for _, s := range tr.sessions {
		s.Remove()
	}
	tr.sessions = nil
	for _, w := range ways {
		tr.add(w, tr.settings)
	}
	tr.awaitAll(Up)
	if n := tr.engine.Discarded()[DiscardUnknown]; n == 0 {
		t.Error("no packet of the old sessions came, so this was no restart within the detection time")
	}
}

// TestInteropAuth: every type of authentication, with BIRD, since FRR 8.4 has
// none. A restart makes the sequence numbers begin anew.
func TestInteropAuth(t *testing.T) {
	needRoot(t, "ip", "nft")
	for _, typ := range authTypes {
		t.Run(typ.String(), func(t *testing.T) {
			s := normal
			s.auth = &Auth{Type: typ, Keys: []Key{{7, []byte("first secret")}}}
			tr := newTrial(t, newLab(t), newBIRD, s)
			routerKilled(t, tr)
			if d := tr.sessions[0].Status().Discarded; d[DiscardAuthDigest]+d[DiscardAuthType]+d[DiscardAuthKey] > 0 {
				t.Errorf("discarded %v", d)
			}
		})
	}
	t.Run("wrong secret", func(t *testing.T) {
		s := normal
		s.auth = &Auth{Type: MeticulousKeyedSHA1, Keys: []Key{{7, []byte("first secret")}}}
		tr := newTrial(t, newLab(t), newBIRD, s)
		tr.change(func(s *settings) {
			s.auth = &Auth{Type: MeticulousKeyedSHA1, Keys: []Key{{7, []byte("another")}}}
		})
		tr.await("no session is up", func(st Status) bool { return st.State != Up })
		tr.await("it is known why", func(st Status) bool { return st.Discarded[DiscardAuthDigest] > 2 })
	})
}
