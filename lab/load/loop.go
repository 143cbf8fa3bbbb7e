package load

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"recuse/lab/load/stub"
)

// lookup is one question under way: all that is kept of it beside its socket. It
// holds no pointer.
type lookup struct {
	seq        int64
	random     uint64
	sent       time.Duration
	deadline   time.Duration
	client     int32
	entry      int32
	timer      int32 // place among the timers, plus one; 0: none
	generation uint32
	asked      uint8 // the server asked last
	live       bool
	attempts   uint16
	resets     uint16
	stub       stub.Lookup
	talks      [stub.MaxServers]talk
}

// loop is a run under way. It belongs to one goroutine, which sends what is due,
// hears what comes and ends what took too long, in turn; nothing in it is
// shared, so nothing waits for a lock. All times are counted from start.
type loop struct {
	config  Config
	mix     []template
	start   time.Time
	wire    wire
	names   *names
	results *collector
	stubs   []stub.Stub

	pages   []*[pageSize]lookup
	free    []int32
	timers  timers
	open    int   // lookups under way
	seq     int64 // of the next question
	last    time.Duration
	stopped atomic.Bool // no more questions: the context ended
}

// newLoop makes a run that begins at start.
func newLoop(c Config, mix []template, start time.Time, w wire, n *names, results *collector) *loop {
	l := &loop{config: c, mix: mix, start: start, wire: w, names: n, results: results}
	l.timers.loop = l
	for range c.Clients {
		l.stubs = append(l.stubs, c.Stub.New(len(c.Servers)))
	}
	return l
}

// intended is when a question is due. It is computed from the start each time,
// so that no rounding adds up.
func intended(seq int64, rate float64) time.Duration {
	return time.Duration(float64(seq) / rate * float64(time.Second))
}

// now is the time.
func (l *loop) now() time.Duration { return time.Since(l.start) }

// run sends until there is nothing more to send, and hears until nothing is
// under way.
func (l *loop) run() {
	var events []event
	for {
		sending := l.send()
		l.expire()
		if !sending && (l.open == 0 || l.impatient()) {
			break
		}
		events = l.wire.wait(l.until(sending), events[:0])
		for _, e := range events {
			l.hear(e)
		}
		l.results.flush(l.now())
	}
	l.abandon()
	l.results.end()
}

// burst is how many questions are sent, when several are due, before what came
// is heard.
const burst = 32

// send sends what is due and reports whether more is to come.
func (l *loop) send() bool {
	for range burst {
		due := intended(l.seq, l.config.Rate)
		if l.stopped.Load() || l.config.Duration > 0 && due >= l.config.Duration {
			return false
		}
		now := l.now()
		if due > now {
			break
		}
		l.begin(now)
		l.last = now
	}
	return true
}

// until is how long the loop may wait: until a question is due or a wait is
// over.
func (l *loop) until(sending bool) time.Duration {
	const far = time.Hour
	at := l.last + far
	if sending {
		at = intended(l.seq, l.config.Rate)
	} else if l.config.Patience > 0 {
		at = l.last + l.config.Patience
	}
	if len(l.timers.heap) > 0 {
		at = min(at, l.at(l.timers.heap[0]).deadline)
	}
	return at
}

// impatient reports whether what is still under way has been awaited for too
// long.
func (l *loop) impatient() bool {
	return l.config.Patience > 0 && l.now() >= l.last+l.config.Patience
}

// begin asks the next question.
func (l *loop) begin(now time.Duration) {
	slot := l.slot()
	k := l.at(slot)
	clients := int64(len(l.config.Clients))
	k.client = int32(l.seq % clients)
	// Every client goes through the whole mix, and neighbours begin at different
	// places, so that not all ask for one name at once.
	k.entry = int32((l.seq/clients + l.seq%clients) % int64(len(l.mix)))
	k.seq, k.random, k.live = l.seq, rand.Uint64(), true
	l.seq++
	l.open++
	l.tell(slot, stub.Event{Kind: stub.Begin, Now: now})
}

// pageSize is how many lookups are made room for at a time. Pages do not move,
// so that none is copied when thousands of questions go unanswered.
const pageSize = 256

// at is the lookup in a slot.
func (l *loop) at(slot int32) *lookup { return &l.pages[slot/pageSize][slot%pageSize] }

// slot is a place for a lookup, used before or new.
func (l *loop) slot() int32 {
	if len(l.free) == 0 {
		first := int32(len(l.pages) * pageSize)
		l.pages = append(l.pages, new([pageSize]lookup))
		for i := range int32(pageSize) {
			l.free = append(l.free, first+pageSize-1-i)
		}
	}
	n := len(l.free) - 1
	slot := l.free[n]
	l.free = l.free[:n]
	k := l.at(slot)
	*k = lookup{generation: k.generation + 1}
	return slot
}

// tell tells the client's stub what happened and does what it says.
func (l *loop) tell(slot int32, e stub.Event) {
	k := l.at(slot)
	step := l.stubs[k.client].Next(&k.stub, e)
	if step.End {
		l.end(slot, step.From, e.Now)
		return
	}
	if step.Wait > 0 {
		k.deadline = e.Now + step.Wait
		l.timers.set(slot)
	}
	var failed stub.Set
	for s := range l.config.Servers {
		switch {
		case step.Send.Has(s):
			if !l.ask(slot, s, false) {
				failed |= 1 << s
			}
		case step.Drop:
			l.wire.drop(&k.talks[s], l.place(slot, s))
		}
	}
	generation := k.generation
	for s := range l.config.Servers {
		// The stub may end the lookup over the first of them.
		if failed.Has(s) && l.is(slot, generation) {
			l.tell(slot, stub.Event{Kind: stub.Refused, Now: e.Now, Server: s})
		}
	}
}

// place is a conversation's place.
func (l *loop) place(slot int32, server int) place {
	return place{slot, l.at(slot).generation, uint8(server)}
}

// is reports whether a slot still holds that lookup.
func (l *loop) is(slot int32, generation uint32) bool {
	return l.at(slot).live && l.at(slot).generation == generation
}

// ask sends a lookup's question to a server; false if it could not.
func (l *loop) ask(slot int32, server int, stream bool) bool {
	k := l.at(slot)
	t := &k.talks[server]
	k.asked = uint8(server)
	err := l.wire.send(t, request{place: l.place(slot, server), client: k.client, entry: k.entry,
		random: k.random, stream: stream})
	if err != nil {
		t.state, t.err = refused, l.names.of([]byte(err.Error()))
		if errors.Is(err, errOwn) {
			t.state = unsent
		}
		return false
	}
	if k.attempts == 0 {
		k.sent = l.now()
	}
	k.attempts++
	t.state = waiting
	return true
}

// hear takes what a wire tells of a conversation. What comes after its lookup
// ended is nobody's any more.
func (l *loop) hear(e event) {
	if !l.is(e.lookup, e.generation) {
		return
	}
	k := l.at(e.lookup)
	t := &k.talks[e.server]
	k.resets += uint16(e.resets)
	if e.port != 0 {
		t.port = e.port
	}
	happened := stub.Event{Kind: stub.Broken, Now: e.at, Server: int(e.server)}
	switch e.state {
	case idle:
		return // only to be counted
	case answered:
		if e.truncated {
			l.wire.drop(t, e.place)
			if l.ask(e.lookup, int(e.server), true) {
				return
			}
			happened.Kind = stub.Refused
			break
		}
		happened.Kind, happened.Rcode = stub.Answer, int(e.rcode)
		t.state, t.rcode, t.node = answered, e.rcode, e.node
	case refused, broken, unsent:
		if t.via == byUDP {
			happened.Kind = stub.Refused
		}
		t.state, t.err = e.state, e.err
	}
	l.tell(e.lookup, happened)
}

// expire tells the stubs whose wait is over.
func (l *loop) expire() {
	if len(l.timers.heap) == 0 {
		return
	}
	now := l.now()
	for len(l.timers.heap) > 0 {
		slot := l.timers.heap[0]
		k := l.at(slot)
		if k.deadline > now {
			return
		}
		l.timers.remove(slot)
		for s := range l.config.Servers {
			if st := k.talks[s].state; st == waiting || st == spilled {
				l.wire.silence(&k.talks[s], l.place(slot, s))
			}
		}
		l.tell(slot, stub.Event{Kind: stub.Deadline, Now: now})
	}
}

// end ends a lookup with what came of a server, or of none.
func (l *loop) end(slot int32, from int, now time.Duration) {
	k := l.at(slot)
	if from == stub.Nobody {
		from = int(k.asked)
	}
	l.results.add(k, from, now)
	for s := range l.config.Servers {
		l.wire.drop(&k.talks[s], l.place(slot, s))
	}
	l.timers.remove(slot)
	k.live = false
	l.open--
	l.free = append(l.free, slot)
}

// abandon ends what is still under way when nobody has patience left.
func (l *loop) abandon() {
	for slot := range int32(len(l.pages) * pageSize) {
		if l.at(slot).live {
			l.end(slot, stub.Nobody, l.now())
		}
	}
}
