package bfd

import (
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The two ends of the tests' sessions.
var (
	addrA = netip.MustParseAddr("192.0.2.1")
	addrB = netip.MustParseAddr("192.0.2.2")
)

// An end is one engine with one session in a simulated network.
type end struct {
	*Session
	t      testing.TB
	self   netip.Addr
	engine *Engine
	begin  time.Time

	mu      sync.Mutex
	other   *end
	path    func() []time.Duration // delays of a packet's copies; none: lost
	log     []sighting
	events  []Event
	stalled bool // what arrives waits, as for a process that does not run
	waiting []*datagram
}

// A sighting is a packet that an end sent, and when.
type sighting struct {
	at time.Duration // since the test began
	p  Packet
}

// newEnd returns an end whose packets reach nobody.
func newEnd(t testing.TB, self, peer netip.Addr, c Config, o Options) *end {
	t.Helper()
	e := prepareEnd(t, self, o)
	e.start(peer, c)
	return e
}

// prepareEnd returns an end without a session. Jitter is off: every interval
// is kept exactly.
func prepareEnd(t testing.TB, self netip.Addr, o Options) *end {
	e := &end{t: t, self: self, begin: time.Now(), path: func() []time.Duration { return nil }}
	e.engine = newEngine(o)
	e.engine.transport = e
	e.engine.random = func() float64 { return 0 }
	return e
}

// start adds the session, which sends its first packet at once.
func (e *end) start(peer netip.Addr, c Config) {
	e.t.Helper()
	c.Peer = peer
	var err error
	if e.Session, err = e.engine.Add(c, e.notify); err != nil {
		e.t.Fatal(err)
	}
}

// newPair returns two ends joined by a path that takes delay each way.
func newPair(t testing.TB, a, b Config, delay time.Duration) (*end, *end) {
	t.Helper()
	left, right := prepareEnd(t, addrA, Options{}), prepareEnd(t, addrB, Options{})
	left.join(right, delay)
	left.start(addrB, a)
	right.start(addrA, b)
	return left, right
}

// join connects two ends.
func (e *end) join(o *end, delay time.Duration) {
	for _, x := range [][2]*end{{e, o}, {o, e}} {
		x[0].mu.Lock()
		x[0].other = x[1]
		x[0].path = func() []time.Duration { return []time.Duration{delay} }
		x[0].mu.Unlock()
	}
}

// cut loses all that e sends from now on.
func (e *end) cut() { e.route(func() []time.Duration { return nil }) }

// route replaces the path of what e sends.
func (e *end) route(path func() []time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.path = path
}

// stop closes the engine, so that its goroutines leave the bubble.
func (e *end) stop() { e.engine.Close() }

// open, close, send, matches, local and drain make an end the transport of its
// engine and the link of its session.
func (e *end) open(*Config) (link, error) { return e, nil }
func (e *end) close()                     {}
func (e *end) local() netip.Addr          { return e.self }
func (e *end) matches(d *datagram) bool   { return d.to == e.self }

func (e *end) send(b []byte) error {
	p, discard := Parse(append([]byte(nil), b...))
	if discard != Accepted || p.Poll && p.Final {
		e.t.Errorf("sent a packet that is %v: %+v", discard, p)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = append(e.log, sighting{time.Since(e.begin), p})
	for _, d := range e.path() {
		to, raw := e.other, append([]byte(nil), b...)
		time.AfterFunc(d, func() { to.arrive(&datagram{payload: raw, from: e.self, to: to.self, ttl: 255}) })
	}
	return nil
}

// arrive hands a datagram to the engine, or lets it wait if the end stalls.
func (e *end) arrive(d *datagram) {
	d.at = time.Now()
	e.mu.Lock()
	if e.stalled {
		e.waiting = append(e.waiting, d)
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	e.engine.deliver(d)
}

func (e *end) drain() {
	e.mu.Lock()
	all := e.waiting
	e.waiting = nil
	e.mu.Unlock()
	for _, d := range all {
		e.engine.deliver(d)
	}
}

// stall keeps what arrives waiting, or ends that.
func (e *end) stall(on bool) {
	e.mu.Lock()
	e.stalled = on
	e.mu.Unlock()
	if !on {
		e.drain()
	}
}

// inject makes e receive p as if its peer had sent it.
func (e *end) inject(p Packet) {
	e.arrive(&datagram{payload: p.AppendTo(nil), from: e.conf.Peer, to: e.self, ttl: 255})
}

func (e *end) notify(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, ev)
}

// settle waits until all that is due has happened. A test that wakes from a
// sleep is not the last of those that wake at the same nanosecond, hence one
// more.
func settle() {
	time.Sleep(1 * time.Nanosecond)
	synctest.Wait()
}

// take returns what e sent since the last call.
func (e *end) take() []sighting {
	settle()
	e.mu.Lock()
	defer e.mu.Unlock()
	log := e.log
	e.log = nil
	return log
}

// times returns when packets were sent since the last call.
func (e *end) times() []time.Duration {
	var at []time.Duration
	for _, s := range e.take() {
		at = append(at, s.at)
	}
	return at
}

// reasons returns why the state changed so far.
func (e *end) reasons() []Reason {
	settle()
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []Reason
	for _, ev := range e.events {
		all = append(all, ev.Reason)
	}
	return all
}

// want fails the test unless e is in that state now.
func (e *end) want(s State) {
	e.t.Helper()
	settle()
	if got := e.Status().State; got != s {
		e.t.Fatalf("at %v: %v is %v, want %v", time.Since(e.begin), e.self, got, s)
	}
}

// peerPacket is what a scripted peer of a session sends when it is up.
func (e *end) peerPacket(s State) Packet {
	return Packet{
		State: s, Multiplier: 3, MyDiscriminator: 77, YourDiscriminator: e.Status().LocalDiscriminator,
		DesiredMinTx: 100 * ms, RequiredMinRx: 100 * ms,
	}
}

// newScripted returns an end that a scripted peer has just brought up.
func newScripted(t testing.TB, c Config, o Options) *end {
	t.Helper()
	e := newEnd(t, addrA, addrB, c, o)
	synctest.Wait()
	e.inject(e.peerPacket(Init))
	synctest.Wait()
	e.inject(e.peerPacket(Up).final())
	e.want(Up)
	return e
}

// final returns the packet with the Final bit.
func (p Packet) final() Packet { p.Final = true; return p }
