package bfd

import (
	"log/slog"
	"sync"
)

// events tells transitions to those who want to know, in order, from one
// goroutine. The queue has no bound, so that neither a slow logger nor a slow
// notify function ever holds a packet up; it grows with transitions only.
type events struct {
	log  *slog.Logger
	wake chan struct{} // holds one if the queue may have grown; closed at the end
	done chan struct{} // closed when run has returned

	mu     sync.Mutex
	queue  []told
	closed bool
}

// told is an event and whose it is.
type told struct {
	session *Session
	event   Event
}

// newEvents returns a running queue.
func newEvents(log *slog.Logger) *events {
	q := &events{log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// tell queues an event.
func (e *Engine) tell(s *Session, ev Event) {
	q := e.events
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.queue = append(q.queue, told{s, ev})
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run tells events until the queue is closed. Those of a session that was
// removed meanwhile are not told.
func (q *events) run() {
	defer close(q.done)
	for range q.wake {
		for _, t := range q.take() {
			if t.session.live() {
				q.one(t)
			}
		}
	}
}

// take empties the queue.
func (q *events) take() []told {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.queue
	q.queue = nil
	return all
}

// one logs and tells one event.
func (q *events) one(t told) {
	q.log.Info("bfd session changed its state",
		"peer", t.session.conf.Peer, "interface", t.session.conf.Interface,
		"from", t.event.From, "to", t.event.To, "reason", t.event.Reason,
		"remote_state", t.event.RemoteState, "remote_diag", t.event.RemoteDiag)
	if t.session.notify != nil {
		t.session.notify(t.event)
	}
}

// close ends run and waits for it.
func (q *events) close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.wake)
	}
	q.mu.Unlock()
	<-q.done
}
