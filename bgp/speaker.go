package bgp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// errClosed says that a Speaker was used after its end.
var errClosed = errors.New("the BGP speaker is closed")

// Speaker announces one desired set of routes to all peers.
type Speaker struct {
	log    *slog.Logger
	notify func()
	beat   *beat

	quit chan struct{} // closed by Close
	done chan struct{} // closed when Run has ended

	mu       sync.Mutex
	cfg      Config
	extra    communities
	peers    []*peer              // in the order of cfg
	leaving  map[netip.Addr]*peer // removed, its session may still end
	spawn    func(*peer)          // runs a peer; nil before keep and after it
	listener *net.TCPListener
	started  bool
	closed   bool
	farewell string
	routerID netip.Addr
	core     *core
	attrs    attributes
	want     routeSet
	have     routeSet // what core has been told
}

// New checks c and returns a Speaker that does nothing before Run. notify is
// called whenever a peer's state or what it has been given has changed; it
// must not block, and it may call Peers.
func New(c Config, log *slog.Logger, notify func()) (*Speaker, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	extra, err := parseCommunities(c.Communities)
	if err != nil {
		return nil, err
	}
	s := &Speaker{
		cfg: c, log: log, notify: notify, extra: extra,
		quit: make(chan struct{}), done: make(chan struct{}),
		beat:     newBeat(log),
		routerID: c.RouterID,
		leaving:  make(map[netip.Addr]*peer),
		want:     routeSet{}, have: routeSet{},
	}
	if s.peers, err = s.prepare(c); err != nil {
		return nil, err
	}
	return s, nil
}

// newPeer makes the peer that p describes.
func (s *Speaker) newPeer(c Config, pc Peer) (*peer, error) {
	p, err := newPeer(c, pc, s.log, s.notify)
	if err != nil {
		return nil, err
	}
	p.announced, p.exclusively, p.farewell = s.announced, s.exclusively, s.lastWords
	p.life.beat = s.beat
	return p, nil
}

// Set declares the whole set of routes to be announced. What is no longer in
// it is withdrawn first, then what is new or changed is sent; the rest is left
// alone. A changed route is one UPDATE without a withdrawal. It returns when
// GoBGP has taken the changes; [Speaker.Peers] says what has left. Before Run
// has started the set is kept. After an error a further Set tries again.
func (s *Speaker) Set(routes []Route) error {
	want, err := newRouteSet(routes)
	if err != nil {
		return err
	}
	if err := s.declare(want); err != nil {
		return err
	}
	for _, p := range s.list() {
		p.review()
	}
	return nil
}

// declare makes want the desired set and applies it.
func (s *Speaker) declare(want routeSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.want = want
	return s.apply()
}

// apply tells GoBGP what it does not know yet. The caller holds mu.
func (s *Speaker) apply() error {
	if s.core == nil {
		return nil
	}
	withdraw, announce := diff(s.have, s.want)
	if len(withdraw) > 0 {
		if err := s.core.withdraw(withdraw); err != nil {
			return err
		}
		for _, p := range withdraw {
			delete(s.have, p)
		}
	}
	for _, r := range announce {
		if err := s.core.announce(s.attrs, r); err != nil {
			return err
		}
		s.have[r.Prefix] = r.Depreferred
	}
	return nil
}

// announced lists what GoBGP has been told to announce.
func (s *Speaker) announced() (list []netip.Prefix) {
	s.exclusively(func(l []netip.Prefix) { list = l })
	return list
}

// exclusively runs f, with what is announced, while no route changes.
func (s *Speaker) exclusively(f func(announced []netip.Prefix)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.have.prefixes())
}

// list returns the peers in the order of the configuration.
func (s *Speaker) list() []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.peers)
}

// config returns the configuration in force.
func (s *Speaker) config() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg
}

// Peers returns the state of every peer, in the order of the configuration.
func (s *Speaker) Peers() []PeerState {
	var list []PeerState
	for _, p := range s.list() {
		list = append(list, p.snapshot())
	}
	return list
}

// RouterID returns our identifier, or the zero Addr as long as the box has no
// address to take it from.
func (s *Speaker) RouterID() netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.routerID
}

// ResetPeer is what the loss of BFD means to a peer (RFC 5882, section 10.2):
// an established session is ended with Cease, BFD Down (RFC 9384), and dialed
// again. One that is not established is left alone, since it has nothing to
// lose. text is the reason for status and log. The error is that of an unknown
// address.
func (s *Speaker) ResetPeer(addr netip.Addr, text string) error {
	p := find(s.list(), addr)
	if p == nil {
		return fmt.Errorf("failed to reset peer %s: not configured", addr)
	}
	if p.session() != nil {
		p.bfdLost(text)
	}
	return nil
}

// SetAlive sets the gate of BFD: while alive says no, no BFD packet leaves,
// and the routers take this node for gone after their detection time. It is
// called often, from many goroutines, and must return at once.
func (s *Speaker) SetAlive(alive func() bool) { s.beat.alive.Store(&alive) }

// lastWords is the shutdown communication for every router.
func (s *Speaker) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.farewell
}

// Close ends every session with a Cease and text (RFC 9003), stops GoBGP, and
// returns when Run has ended or ctx is done, which also ends the time for which
// BFD says good-bye: Run then ends soon after. The caller has withdrawn the
// routes and waited: what was not sent yet is lost.
func (s *Speaker) Close(ctx context.Context, text string) error {
	s.mu.Lock()
	first, started := !s.closed, s.started
	if first {
		s.closed, s.farewell = true, text
		close(s.quit)
	}
	s.mu.Unlock()
	if !started {
		return nil
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		s.beat.giveUp()
		return fmt.Errorf("failed to end the BGP sessions in time: %w", ctx.Err())
	}
}
