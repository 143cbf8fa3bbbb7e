package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the connections of a run, over TCP and TLS. Each has a goroutine
// that connects and writes and one that reads; what they hear goes to post.
type streams struct {
	config Config
	mix    []template
	names  *names
	start  time.Time
	post   func(event)

	mu      sync.Mutex
	open    map[int32]*stream // by channel
	kept    map[line]*stream  // those that a client keeps
	owed    map[line]uint8    // resets of kept ones that no question was under
	last    int32             // channel given last
	running sync.WaitGroup
}

// line is who talks to whom.
type line struct {
	client int32
	server uint8
}

// stream is one connection. What is in it is guarded by streams.mu.
type stream struct {
	all     *streams
	channel int32
	line    line
	keep    bool // for questions to come

	out     []byte        // to be written
	ready   chan struct{} // capacity 1: there is something in out, or dead
	pending []outstanding // the oldest first
	heard   time.Duration // when something was read last
	port    uint16
	conn    net.Conn
	dead    bool
	life    context.Context // ends when the stream is dead
	kill    context.CancelFunc
}

// outstanding is a question on a stream.
type outstanding struct {
	asking
	at time.Duration
}

// newStreams makes the set, empty.
func newStreams(c Config, mix []template, n *names, start time.Time, post func(event)) *streams {
	return &streams{config: c, mix: mix, names: n, start: start, post: post,
		open: map[int32]*stream{}, kept: map[line]*stream{}, owed: map[line]uint8{}}
}

// send asks on the client's connection, or on a new one.
func (x *streams) send(t *talk, r request) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	t.via = byTCP
	if x.config.Transport == DoT {
		t.via = byTLS
	}
	if x.open[t.channel] != nil {
		return nil // TCP itself repeats what is lost
	}
	at := line{r.client, r.server}
	s := x.kept[at]
	if s == nil {
		s = x.begin(at, !r.stream && x.config.Transport != TCP)
	}
	t.channel, t.id = s.channel, s.freeID()
	s.pending = append(s.pending, outstanding{asking{place: r.place, id: t.id, entry: r.entry, random: r.random}, time.Since(x.start)})
	head := len(s.out)
	s.out = x.mix[r.entry].put(append(s.out, 0, 0), t.id, r.random)
	length := len(s.out) - head - 2
	s.out[head], s.out[head+1] = byte(length>>8), byte(length)
	s.ring()
	if owed := x.owed[at]; owed > 0 {
		delete(x.owed, at)
		x.post(event{place: r.place, resets: owed})
	}
	return nil
}

// begin makes a connection, which is up later.
func (x *streams) begin(at line, keep bool) *stream {
	x.last++
	s := &stream{all: x, channel: x.last, line: at, keep: keep, ready: make(chan struct{}, 1)}
	s.life, s.kill = context.WithCancel(context.Background())
	x.open[s.channel] = s
	if keep {
		x.kept[at] = s
	}
	x.running.Go(s.run)
	return s
}

// freeID is a message's number that no question on the connection has.
func (s *stream) freeID() uint16 {
	id := randomID()
	for i := 0; i < len(s.pending); i++ {
		if s.pending[i].id == id {
			id++
			i = -1
		}
	}
	return id
}

// ring tells the writer.
func (s *stream) ring() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// silence gives a connection up that said nothing since this question was sent:
// a client that is left without an answer does not go on with it. Other
// questions on it are broken off, but no reset is counted, for it was the client
// that closed.
func (x *streams) silence(t *talk, p place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.open[t.channel]
	if s == nil {
		t.channel = 0
		return
	}
	i := s.find(t.id, p)
	if i < 0 || s.heard > s.pending[i].at {
		return
	}
	s.pending = append(s.pending[:i], s.pending[i+1:]...)
	t.channel = 0
	s.end(broken, errSilent, 0)
}

// errSilent is why a client closes a connection.
var errSilent = errors.New("the connection was silent")

// find is the place of a question among those outstanding; -1 if it is not.
func (s *stream) find(id uint16, p place) int {
	for i := range s.pending {
		if s.pending[i].id == id && s.pending[i].place == p {
			return i
		}
	}
	return -1
}

// drop forgets a question, and closes its connection if it has no other use.
func (x *streams) drop(channel int32, id uint16, p place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.open[channel]
	if s == nil {
		return
	}
	if i := s.find(id, p); i >= 0 {
		s.pending = append(s.pending[:i], s.pending[i+1:]...)
	}
	if !s.keep {
		s.end(broken, errSilent, 0)
	}
}

// end closes a connection and tells those whose questions were on it. resets
// are charged to the oldest, or kept for the next question if there is none.
func (s *stream) end(st state, why error, resets uint8) {
	if s.dead {
		return
	}
	x := s.all
	s.dead = true
	s.kill()
	delete(x.open, s.channel)
	if x.kept[s.line] == s {
		delete(x.kept, s.line)
	}
	if len(s.pending) == 0 {
		x.owed[s.line] += resets
	}
	e := event{state: st, at: time.Since(x.start), port: s.port, resets: resets}
	if errors.Is(why, errOwn) {
		e.state = unsent
	}
	e.err = x.names.of([]byte(why.Error()))
	for _, o := range s.pending {
		e.place = o.place
		x.post(e)
		e.resets = 0
	}
	s.pending = nil
	if s.conn != nil {
		// Whoever reads or writes stops, and run closes it: that takes a while.
		_ = s.conn.SetDeadline(time.Unix(1, 0))
	}
	s.ring()
}

// fail ends a connection over an error of its own.
func (s *stream) fail(why error) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	reset := errors.Is(why, unix.ECONNRESET) || errors.Is(why, unix.EPIPE)
	switch {
	case s.conn == nil: // it never was up
		s.end(refused, own(why), 0)
	case reset || len(s.pending) > 0:
		s.end(broken, fmt.Errorf("connection broke: %w", why), 1)
	default: // the server closes what is idle, as it may (RFC 7766 section 6.2.3)
		s.end(broken, why, 0)
	}
}

// close ends all connections and waits for their goroutines.
func (x *streams) close() {
	x.mu.Lock()
	for _, s := range x.open {
		s.end(broken, errSilent, 0)
	}
	x.mu.Unlock()
	x.running.Wait()
}
