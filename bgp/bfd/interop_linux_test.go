package bfd

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// A trial is our sessions on all ways of a lab, and the router against them.
type trial struct {
	*lab
	router
	sessions []*Session

	mu     sync.Mutex
	events map[*Session][]Event
}

// normal is how the trials begin on both ends.
var normal = settings{tx: 100 * ms, rx: 100 * ms, mult: 3}

// newTrial starts both ends with equal settings and waits until all sessions
// are up.
func newTrial(t *testing.T, l *lab, mk func(*lab, []way) router, s settings) *trial {
	t.Helper()
	tr := &trial{lab: l, router: mk(l, ways), events: make(map[*Session][]Event)}
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
	var session *Session
	c := Config{
		Peer: w.his, Local: w.our, Interface: w.ours, Multihop: w.multihop,
		DesiredMinTx: s.tx, RequiredMinRx: s.rx, Multiplier: uint8(s.mult), Auth: s.auth,
	}
	session, err := tr.engine.Add(c, func(e Event) {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		tr.events[session] = append(tr.events[session], e)
	})
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
			ways[i].name, st.State, st.RemoteState, st.Sent, st.Received, st.Discarded, st.TxInterval, st.RxInterval, st.Detection, st.Polling, st.SendErrors, st.LastSendError)
		for _, e := range st.History {
			out += fmt.Sprintf("  %s %v -> %v: %v (diag %v, remote %v)\n", e.At.Format("05.000"), e.From, e.To, e.Reason, e.Diag, e.RemoteDiag)
		}
	}
	return out + tr.show()
}

// stayUp fails the test if any session has left Up since n transitions.
func (tr *trial) stayUp(what string) {
	tr.t.Helper()
	for i, s := range tr.sessions {
		st := s.Status()
		last := st.History[len(st.History)-1]
		if st.State != Up || last.From != Down && last.From != Init {
			tr.t.Errorf("%s: %s is %v", what, ways[i].name, st.State)
		}
	}
}

func TestInteropUp(t *testing.T) {
	eachRouter(t, func(t *testing.T, l *lab, mk func(*lab, []way) router) {
		tr := newTrial(t, l, mk, normal)
		tr.await("no poll is under way", func(st Status) bool { return !st.Polling })
		tr.await("intervals", func(st Status) bool {
			return st.TxInterval == 100*ms && st.RxInterval == 100*ms && st.Detection == 300*ms
		})
	})
}
