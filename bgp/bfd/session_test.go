package bfd

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAdminDown: the peer is told at once and then once a second, and knows
// that it was no failure.
func TestAdminDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPair(t, fast, fast, 10*ms)
		defer a.stop()
		defer b.stop()
		time.Sleep(2 * time.Second)
		a.take()
		at := time.Since(a.begin)
		a.SetAdminDown(true)
		a.SetAdminDown(true)
		a.want(AdminDown)
		time.Sleep(10 * ms)
		b.want(Down)
		time.Sleep(2 * time.Second)
		got := a.take()
		if len(got) != 3 || got[0].at != at || got[0].p.State != AdminDown || got[0].p.Diag != DiagAdminDown {
			t.Errorf("sent %+v", got)
		}
		if diff := cmp.Diff([]Reason{ReasonHeard, ReasonHears, ReasonPeerAdminDown}, b.reasons()); diff != "" {
			t.Errorf("unexpected reasons (-want +got):\n%s", diff)
		}
		if st := b.Status(); st.RemoteState != AdminDown || st.Diag != DiagNeighborDown || st.RemoteDiag != DiagAdminDown {
			t.Errorf("remote state %v, diag %v, remote diag %v", st.RemoteState, st.Diag, st.RemoteDiag)
		}
		if n := a.Status().Discarded[DiscardLocallyAdminDown]; n == 0 {
			t.Error("packets of the peer were not counted as discarded")
		}
		a.SetAdminDown(false)
		time.Sleep(time.Second)
		a.want(Up)
		b.want(Up)
	})
}

// TestBeginsAdminDown: a session that is added so says so, and tells nobody
// here that it changed.
func TestBeginsAdminDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newEnd(t, addrA, addrB, Config{AdminDown: true}, Options{})
		defer e.stop()
		e.want(AdminDown)
		if got := e.take(); len(got) != 1 || got[0].p.State != AdminDown {
			t.Errorf("sent %+v", got)
		}
		if got := e.reasons(); len(got) != 0 {
			t.Errorf("told %v", got)
		}
	})
}

// TestShutdown lasts as long as the peer would need to find out, here 300 ms,
// and leaves silence.
func TestShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPair(t, fast, fast, 10*ms)
		defer a.stop()
		defer b.stop()
		time.Sleep(2 * time.Second)
		begin := time.Now()
		if err := a.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d != 300*ms {
			t.Errorf("took %v", d)
		}
		b.want(Down)
		a.take()
		time.Sleep(5 * time.Second)
		diffTimes(t, a.times())
		if _, err := a.engine.Add(Config{Peer: addrB}, nil); err != nil {
			t.Errorf("no room for a new session: %v", err)
		}
	})
}

func TestShutdownEndsWithContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		ctx, cancel := context.WithTimeout(context.Background(), 7*ms)
		defer cancel()
		begin := time.Now()
		if err := e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 7*ms {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		e.take()
		time.Sleep(5 * time.Second)
		diffTimes(t, e.times())
	})
}

// TestAlive: once the owner is not alive nothing leaves any more, answers to
// Polls included, and the peer finds out. It gets over it.
func TestAlive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var dead atomic.Bool
		e := newScripted(t, fast, Options{Alive: func() bool { return !dead.Load() }})
		defer e.stop()
		e.take()
		dead.Store(true)
		poll := e.peerPacket(Up)
		poll.Poll, poll.DesiredMinTx = true, time.Minute
		e.inject(poll)
		time.Sleep(250 * ms)
		diffTimes(t, e.times())
		if got := e.Status().Withheld; got != 3 {
			t.Errorf("%d packets withheld, want an answer and two", got)
		}
		at := time.Since(e.begin)
		dead.Store(false)
		time.Sleep(50 * ms)
		if got := e.times(); len(got) != 1 || got[0] > at+50*ms {
			t.Errorf("packets at %v", got)
		}
	})
}

// TestPeerRestarts within the detection time: it comes with a new
// discriminator and does not know ours.
func TestPeerRestarts(t *testing.T) {
	for _, auth := range []*Auth{nil, testAuth(MeticulousKeyedSHA1)} {
		bubble(t, func(t *testing.T) {
			c := fast
			c.Auth = auth
			a, b := newPair(t, c, c, 10*ms)
			defer a.stop()
			time.Sleep(2 * time.Second)
			b.Remove()
			b.stop()
			synctest.Wait()
			again := newEnd(t, addrB, addrA, c, Options{})
			defer again.stop()
			a.join(again, 10*ms)
			time.Sleep(10 * ms)
			if auth == nil {
				a.want(Down)
			}
			time.Sleep(3 * time.Second)
			a.want(Up)
			again.want(Up)
			want := ReasonPeerDown
			if auth != nil {
				want = ReasonExpired // its sequence numbers do not fit
			}
			if got := a.reasons()[2]; got != want {
				t.Errorf("went down since %v, want %v", got, want)
			}
		})
	}
}

// TestWrongKey: a session with another secret never comes up, and says why.
func TestWrongKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, d := fast, fast
		c.Auth = testAuth(KeyedSHA1)
		d.Auth = &Auth{Type: KeyedSHA1, Keys: []Key{{7, []byte("other")}}}
		a, b := newPair(t, c, d, 10*ms)
		defer a.stop()
		defer b.stop()
		time.Sleep(10 * time.Second)
		a.want(Down)
		if st := a.Status(); st.Discarded[DiscardAuthDigest] == 0 || st.Received != 0 {
			t.Errorf("discarded %v, received %d", st.Discarded, st.Received)
		}
	})
}

func TestUpdateRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		before := e.Status()
		err := e.Update(Intervals{DesiredMinTx: ms, RequiredMinRx: 2 * time.Hour})
		if err == nil || !strings.Contains(err.Error(), "desired_min_tx: 1ms: must be") ||
			!strings.Contains(err.Error(), "required_min_rx: 2h0m0s: must be") {
			t.Errorf("error %v", err)
		}
		if after := e.Status(); after.TxInterval != before.TxInterval || after.Detection != before.Detection {
			t.Error("changed all the same")
		}
	})
}

// TestRemovedIsInert: a removed session takes no notice of anything.
func TestRemovedIsInert(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		e.take()
		e.Remove()
		e.Remove()
		e.SetAdminDown(true)
		if err := e.Update(Intervals{}); err != nil {
			t.Error(err)
		}
		e.inject(e.peerPacket(Down))
		time.Sleep(time.Minute)
		diffTimes(t, e.times())
		if got := len(e.reasons()); got != 1 {
			t.Errorf("%d transitions told, want the one that led to Up", got)
		}
		if got := e.engine.Discarded()[DiscardUnknown]; got != 1 {
			t.Errorf("%d packets for an unknown session", got)
		}
		e.stop()
		e.stop()
		if _, err := e.engine.Add(Config{Peer: addrB}, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("added to a closed engine: %v", err)
		}
	})
}

// TestSlowNotify: a notify function that blocks holds no packet up, and gets
// all transitions in their order when it goes on.
func TestSlowNotify(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newEnd(t, addrA, addrB, fast, Options{})
		defer e.stop()
		block := make(chan struct{})
		var got []State
		e.Session.notify = func(ev Event) { <-block; got = append(got, ev.To) }
		e.inject(e.peerPacket(Init))
		for range 3 {
			synctest.Wait()
			e.inject(e.peerPacket(Down))
			e.inject(e.peerPacket(Down))
			e.inject(e.peerPacket(Up))
		}
		e.take()
		time.Sleep(100 * ms)
		if len(e.times()) != 1 {
			t.Error("no packet while notify blocks")
		}
		close(block)
		settle()
		want := []State{Up, Down, Init, Up, Down, Init, Up, Down, Init, Up}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("unexpected transitions (-want +got):\n%s", diff)
		}
	})
}

// TestRemovedIsSilent: what was not told when a session was removed never is.
func TestRemovedIsSilent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newEnd(t, addrA, addrB, fast, Options{})
		defer e.stop()
		block := make(chan struct{})
		var got []State
		e.Session.notify = func(ev Event) { <-block; got = append(got, ev.To) }
		e.inject(e.peerPacket(Down))
		settle() // notify has the first
		e.inject(e.peerPacket(Up))
		e.Remove()
		close(block)
		settle()
		if diff := cmp.Diff([]State{Init}, got); diff != "" {
			t.Errorf("unexpected transitions (-want +got):\n%s", diff)
		}
	})
}

// TestEngineShutdown takes as long as the slowest session that is up needs,
// and waits for none that is down.
func TestEngineShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, Config{DesiredMinTx: 100 * ms, Multiplier: 4}, Options{})
		down := Config{Peer: addrB.Next(), DesiredMinTx: 2 * time.Second}
		if _, err := e.engine.Add(down, nil); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := e.engine.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d != 400*ms {
			t.Errorf("took %v", d)
		}
		if _, err := e.engine.Add(down, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("added afterwards: %v", err)
		}
	})
}

// TestHistory: the last ten transitions, oldest first, and no more.
func TestHistory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newScripted(t, fast, Options{})
		defer e.stop()
		for range 5 {
			time.Sleep(ms)
			e.inject(e.peerPacket(AdminDown))
			e.inject(e.peerPacket(Down))
			e.inject(e.peerPacket(Up))
		}
		st := e.Status()
		if len(st.History) != historyLen {
			t.Fatalf("%d transitions", len(st.History))
		}
		last := st.History[historyLen-1]
		want := Event{At: st.Since, From: Init, To: Up, Reason: ReasonHears, RemoteState: Up}
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("unexpected last transition (-want +got):\n%s", diff)
		}
		for i, ev := range st.History[1:] {
			if ev.From != st.History[i].To || ev.At.Before(st.History[i].At) {
				t.Errorf("transition %d does not follow: %+v", i+1, ev)
			}
		}
	})
}
