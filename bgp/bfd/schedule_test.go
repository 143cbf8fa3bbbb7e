package bfd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fast is a session of 100 ms x 3.
var fast = Config{DesiredMinTx: 100 * ms, RequiredMinRx: 100 * ms}

// bubble runs f in a synctest bubble.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// before is how long before a moment the tests look at what was then. Their
// looks take a nanosecond each, see settle.
const before = 5

// diffTimes fails the test unless got is want.
func diffTimes(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected moments (-want +got):\n%s", diff)
	}
}

// TestHandshake: both ends at once, 10 ms apart. Down at 0, heard at 10 and
// Init told, which is heard at 20: Up.
func TestHandshake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPair(t, fast, fast, 10*ms)
		defer a.stop()
		defer b.stop()
		time.Sleep(10*ms - before)
		a.want(Down)
		time.Sleep(before)
		a.want(Init)
		time.Sleep(10*ms - 2*before)
		a.want(Init)
		time.Sleep(2 * before)
		a.want(Up)
		b.want(Up)
		if diff := cmp.Diff([]Reason{ReasonHeard, ReasonHears}, a.reasons()); diff != "" {
			t.Errorf("unexpected reasons (-want +got):\n%s", diff)
		}
	})
}

// TestSlowUntilUp: nobody answers, so one packet a second, or fewer if so
// configured.
func TestSlowUntilUp(t *testing.T) {
	for _, tt := range []struct{ tx, every time.Duration }{
		{50 * ms, time.Second}, {1500 * ms, 1500 * ms},
	} {
		bubble(t, func(t *testing.T) {
			e := newEnd(t, addrA, addrB, Config{DesiredMinTx: tt.tx}, Options{})
			defer e.stop()
			time.Sleep(3 * tt.every)
			diffTimes(t, e.times(), 0, tt.every, 2*tt.every, 3*tt.every)
		})
	}
}

// TestJitterOnTheWire: each interval is drawn anew.
func TestJitterOnTheWire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newEnd(t, addrA, addrB, fast, Options{})
		defer e.stop()
		draws := []float64{0.5, 0}
		e.Session.mu.Lock()
		e.engine.random = func() float64 { r := draws[0]; draws = append(draws[1:], r); return r }
		e.Session.mu.Unlock()
		time.Sleep(4 * time.Second)
		got := e.times()
		for i, want := range []time.Duration{875 * ms, time.Second, 875 * ms} {
			if gap := got[i+1] - got[i]; gap != want {
				t.Errorf("gap %d: %v, want %v", i, gap, want)
			}
		}
	})
}

// TestDetection: the session is up for the whole detection time and not a
// nanosecond longer. The peer's multiplier counts, not ours.
func TestDetection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := fast
		b.Multiplier = 4
		left, right := newPair(t, fast, b, 10*ms)
		defer left.stop()
		defer right.stop()
		time.Sleep(time.Second)
		right.cut()
		time.Sleep(10 * ms) // what was on its way
		heard := left.Status().LastHeard
		time.Sleep(time.Until(heard.Add(400*ms - before)))
		left.want(Up)
		time.Sleep(before)
		left.want(Down)
		if st := left.Status(); st.Diag != DiagExpired || st.RemoteDiscriminator != 0 || st.Averted != 0 {
			t.Errorf("diag %v, remote discriminator %d, averted %d", st.Diag, st.RemoteDiscriminator, st.Averted)
		}
		time.Sleep(10 * ms)
		right.want(Down)
		if st := right.Status(); st.Diag != DiagNeighborDown || st.RemoteDiag != DiagExpired {
			t.Errorf("the other end: diag %v, remote diag %v", st.Diag, st.RemoteDiag)
		}
	})
}

// TestWaitingPacketsCount: this end does not run for a second, while the other
// keeps sending. Its watch goes off, but what waits in the socket comes first.
func TestWaitingPacketsCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPair(t, fast, fast, 10*ms)
		defer a.stop()
		defer b.stop()
		time.Sleep(time.Second)
		a.stall(true)
		time.Sleep(time.Second)
		a.want(Up)
		if st := a.Status(); st.Averted == 0 || len(st.History) != 2 {
			t.Errorf("averted %d, history %v", st.Averted, st.History)
		}
		b.cut()
		synctest.Wait()
		time.Sleep(10 * ms) // what was on its way
		a.drain()
		last := a.Status().LastHeard
		time.Sleep(time.Until(last.Add(300*ms - before)))
		a.want(Up)
		time.Sleep(before)
		a.want(Down)
	})
}

// TestOldPacketsDoNotCount: what waits is older than the detection time.
func TestOldPacketsDoNotCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		e.stall(true)
		time.Sleep(100 * ms)
		e.inject(e.peerPacket(Up)) // moves the end to 400 ms
		time.Sleep(300*ms - before)
		e.want(Up)
		time.Sleep(before)
		e.want(Down)
	})
}

// TestDiscardedDoNotCount: packets that are refused are no sign of life.
func TestDiscardedDoNotCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		heard := e.Status().LastHeard
		time.Sleep(200 * ms)
		p := e.peerPacket(Up)
		e.arrive(&datagram{payload: p.AppendTo(nil), from: addrB, to: addrA, ttl: 254})
		time.Sleep(time.Until(heard.Add(300*ms - before)))
		e.want(Up)
		time.Sleep(before)
		e.want(Down)
	})
}

// TestEarlyPacer: a run of the pacer that the schedule has overtaken sends
// nothing, and moves nothing.
func TestEarlyPacer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newEnd(t, addrA, addrB, fast, Options{})
		defer e.stop()
		time.Sleep(500 * ms)
		e.transmit()
		time.Sleep(600 * ms)
		diffTimes(t, e.times(), 0, time.Second)
	})
}

// TestShorterIntervalAtOnce: the peer used to want a packet a second and now
// wants ten. The next one leaves as if that had always been so.
func TestShorterIntervalAtOnce(t *testing.T) {
	tests := []struct {
		name string
		wait time.Duration // since our last packet
	}{
		{"the new interval is over", 400 * ms},
		{"the new interval is not over", 40 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				e := newScripted(t, fast, Options{})
				defer e.stop()
				slow := e.peerPacket(Up)
				slow.RequiredMinRx, slow.DesiredMinTx = time.Second, 10*time.Second
				e.inject(slow)
				time.Sleep(time.Second)
				sent := e.times()
				last := sent[len(sent)-1]
				time.Sleep(tt.wait)
				slow.RequiredMinRx = 100 * ms
				next := max(time.Since(e.begin), last+100*ms)
				e.inject(slow)
				time.Sleep(300 * ms)
				got := e.times()
				diffTimes(t, got[:2], next, next+100*ms)
			})
		})
	}
}

// TestOwnIncreaseWaitsForFinal: 100 ms become 500 ms, with 80 ms each way. Poll
// leaves at once, its answer is there 160 ms later; until then 100 ms rule.
func TestOwnIncreaseWaitsForFinal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPair(t, fast, fast, 80*ms)
		defer a.stop()
		defer b.stop()
		time.Sleep(5 * time.Second)
		a.take()
		begin := time.Since(a.begin)
		if err := a.Update(Intervals{DesiredMinTx: 500 * ms, RequiredMinRx: 100 * ms}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var polls int
		var gaps []time.Duration
		last := begin
		for _, s := range a.take() {
			if s.p.Poll {
				polls++
			}
			if s.p.DesiredMinTx != 500*ms {
				t.Errorf("advertises %v", s.p.DesiredMinTx)
			}
			gaps = append(gaps, s.at-last)
			last = s.at
		}
		if polls < 2 {
			t.Errorf("%d packets with Poll", polls)
		}
		for i, g := range gaps {
			if i < polls && g > 100*ms {
				t.Errorf("gap %d: %v before the Final", i, g)
			}
			if i >= polls && g != 500*ms {
				t.Errorf("gap %d: %v after the Final", i, g)
			}
		}
		b.want(Up)
		if got := b.Status().Detection; got != 1500*ms {
			t.Errorf("the other end's detection time %v", got)
		}
	})
}

// TestPeerWantsNone: Required Min RX 0 ends periodic packets, answers to Polls
// remain, and a packet that wants some brings them back.
func TestPeerWantsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		none := e.peerPacket(Up)
		none.RequiredMinRx, none.DesiredMinTx = 0, time.Second
		e.inject(none)
		e.take()
		time.Sleep(time.Second)
		diffTimes(t, e.times())
		poll := none
		poll.Poll = true
		e.inject(poll)
		if got := e.take(); len(got) != 1 || !got[0].p.Final {
			t.Errorf("answered with %+v", got)
		}
		e.inject(e.peerPacket(Up))
		if got := e.times(); len(got) != 0 {
			t.Errorf("packets at %v", got)
		}
		time.Sleep(100 * ms)
		if got := e.times(); len(got) != 1 {
			t.Errorf("packets at %v", got)
		}
	})
}

// TestDemandOnTheWire: no periodic packets to a peer in Demand mode, a Poll
// Sequence to tell it what is new, and silence again.
func TestDemandOnTheWire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		quiet := e.peerPacket(Up)
		quiet.Demand, quiet.DesiredMinTx = true, 10*time.Second
		e.inject(quiet)
		e.take()
		time.Sleep(time.Second)
		diffTimes(t, e.times())
		if err := e.Update(Intervals{DesiredMinTx: 100 * ms, RequiredMinRx: 100 * ms, Multiplier: 9}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(250 * ms)
		got := e.take()
		if len(got) != 3 {
			t.Fatalf("%d packets", len(got))
		}
		for _, s := range got {
			if !s.p.Poll || s.p.Multiplier != 9 || s.p.Demand {
				t.Errorf("unexpected packet %+v", s.p)
			}
		}
		e.inject(quiet.final())
		time.Sleep(time.Second)
		diffTimes(t, e.times())
		e.want(Up)
	})
}

// TestAnswerLeavesScheduleAlone: an answer to a Poll is one packet more.
func TestAnswerLeavesScheduleAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		time.Sleep(100 * ms)
		sent := e.times()
		last := sent[len(sent)-1]
		time.Sleep(50 * ms)
		poll := e.peerPacket(Up)
		poll.Poll = true
		answer := time.Since(e.begin)
		e.inject(poll)
		time.Sleep(100 * ms)
		diffTimes(t, e.times(), answer, last+100*ms)
	})
}
