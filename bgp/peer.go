package bgp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// leastWait keeps a dial that fails at once from being a busy loop.
const leastWait = 100 * time.Millisecond

// peer keeps the session with one router. Its goroutine is run.
type peer struct {
	cfg      Peer   // its session; what may change is in soft
	asn      uint32 // ours
	external bool
	log      *slog.Logger
	notify   func()
	// announced lists what GoBGP has been told to announce.
	announced func() []netip.Prefix
	// exclusively runs f while no route changes.
	exclusively func(f func(announced []netip.Prefix))
	inbound     chan *net.TCPConn // at most one accepted connection that waits

	// farewell is the text for a router that we leave.
	farewell func() string

	life *lifeline
	// nudge holds one if BFD came up, which makes it worth to dial now.
	nudge chan struct{}

	// Set before run.
	core *core
	self node
	// predecessor, if not nil, is closed when the session of the peer that
	// this one stands in for has ended.
	predecessor <-chan struct{}
	// cancel ends run with a cause; gone is closed when it has ended.
	cancel context.CancelCauseFunc
	gone   chan struct{}

	mu       sync.Mutex
	soft     soft
	state    PeerState
	stage    State
	current  *session
	given    tally
	seen     view
	heardAt  time.Time       // when the router's last UPDATE came
	admitted bool            // routes may go to the current session
	agreed   terms           // on which they do
	drift    string          // what the last look found missing or in excess
	logged   map[string]bool // reasons told since the last Established
}

// newPeer prepares what a validated Config says of a router.
func newPeer(c Config, p Peer, log *slog.Logger, notify func()) (*peer, error) {
	own, err := newSoft(c, p)
	if err != nil {
		return nil, err
	}
	made := &peer{
		cfg: p, asn: c.ASN, external: c.external(p), soft: own, gone: make(chan struct{}),
		log: log.With("peer", p.Address.String()), notify: notify,
		inbound: make(chan *net.TCPConn, 1),
		state:   PeerState{Address: p.Address, ASN: p.ASN, Since: time.Now()},
		logged:  make(map[string]bool),
		nudge:   make(chan struct{}, 1),
	}
	made.life = &lifeline{
		peer: p, kinds: p.strandKinds(made.external), conf: p.BFD, log: made.log,
		changed: notify, rise: made.bfdUp, fall: made.bfdLost,
	}
	return made, nil
}

// run keeps the session until ctx is done, whose cause says why.
func (p *peer) run(ctx context.Context) {
	defer close(p.gone)
	if p.predecessor != nil {
		<-p.predecessor
	}
	defer p.life.stop()
	defer p.enter(Idle)
	defer p.dropInbound()
	p.life.start()
	var pc pace
	var waiting *net.TCPConn
	for p.awaitBFD(ctx) {
		began := time.Now()
		end, up, why := p.attempt(ctx, waiting)
		if ctx.Err() != nil {
			if up > 0 {
				p.log.Info("bgp session closed", "reason", why)
			}
			return
		}
		var wait time.Duration
		pc, wait = pc.next(end, up, p.cfg.ConnectRetry, rand.Float64())
		if end == endUnreached {
			wait -= time.Since(began)
		}
		p.failed(end, why)
		waiting = p.rest(ctx, max(wait, leastWait), end.eager())
	}
	if waiting != nil {
		_ = waiting.Close()
	}
}

// goodbye is our last word when ctx is done.
func (p *peer) goodbye(ctx context.Context) notification {
	switch context.Cause(ctx) {
	case errRemoved:
		return cease(ceaseRemoved, "")
	case errChanged:
		return cease(ceaseChanged, "")
	}
	return cease(ceaseShutdown, p.farewell())
}

// attempt reaches the router, over waiting if it is not nil, and holds one
// session with it.
func (p *peer) attempt(ctx context.Context, waiting *net.TCPConn) (ending, time.Duration, string) {
	conn := waiting
	if conn == nil {
		p.enter(Connect)
		var err error
		if conn, err = p.reach(ctx); err != nil {
			return endUnreached, 0, p.cfg.dialWords(err)
		}
	}
	s := newSession(p, conn)
	p.begin(s)
	end, why := s.run(ctx)
	p.end()
	return end, s.e.up(), why
}

// dialed is the outcome of a dial.
type dialed struct {
	conn *net.TCPConn
	err  error
}

// reach dials, or takes the connection that the router makes meanwhile. BFD
// that comes up makes it dial anew: the next SYN of a dial under way may be
// seconds off.
func (p *peer) reach(ctx context.Context) (*net.TCPConn, error) {
	for {
		r, inbound := p.dialOnce(ctx)
		switch {
		case inbound != nil && r.conn != nil:
			_ = r.conn.Close()
			return inbound, nil
		case inbound != nil:
			return inbound, nil
		case r.err == nil || !errors.Is(r.err, errAgain):
			return r.conn, r.err
		}
	}
}

// errAgain says that a dial was given up for the next one.
var errAgain = errors.New("dialing again")

// dialOnce dials until that has an outcome, or the router comes, or BFD comes
// up.
func (p *peer) dialOnce(ctx context.Context) (r dialed, inbound *net.TCPConn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan dialed, 1)
	go func() {
		conn, err := p.cfg.dial(ctx, p.external)
		done <- dialed{conn, err}
	}()
	nudged := false
	select {
	case r = <-done:
		return r, nil
	case inbound = <-p.inbound:
	case <-p.nudge:
		nudged = true
	}
	cancel()
	if r = <-done; nudged && r.err != nil {
		r.err = errAgain
	}
	return r, inbound
}

// rest waits; a connection from the router ends the wait and is returned, and
// BFD that comes up ends it too if eager is set.
func (p *peer) rest(ctx context.Context, wait time.Duration, eager bool) *net.TCPConn {
	t := time.NewTimer(wait)
	defer t.Stop()
	nudge := p.nudge
	if !eager {
		nudge = nil
	}
	select {
	case <-t.C:
	case <-nudge:
	case <-ctx.Done():
	case conn := <-p.inbound:
		return conn
	}
	return nil
}

// offer hands over an accepted connection. Beside an established session it
// is closed (RFC 4271, section 6.8). Beside one that is coming up it waits:
// which of the two lives is the router's to say, by closing the other.
func (p *peer) offer(conn *net.TCPConn) {
	p.mu.Lock()
	up := p.stage == Established
	p.mu.Unlock()
	if up {
		_ = conn.Close()
		return
	}
	p.dropInbound()
	select {
	case p.inbound <- conn:
	default:
		_ = conn.Close()
	}
}

// dropInbound closes a connection that waits.
func (p *peer) dropInbound() {
	select {
	case conn := <-p.inbound:
		_ = conn.Close()
	default:
	}
}
