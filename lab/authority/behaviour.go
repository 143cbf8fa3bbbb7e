package authority

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Failure is what a zone does in place of answering.
type Failure string

// The failures. None answers, Drop stays silent, ServFail says SERVFAIL.
const (
	None     Failure = ""
	Drop     Failure = "drop"
	ServFail Failure = "servfail"
)

// The transports that a behaviour can be for.
const (
	UDP = "udp"
	TCP = "tcp"
)

// Behaviour is how a zone answers: Delay passes before the answer or the
// SERVFAIL leaves.
type Behaviour struct {
	Delay   time.Duration `json:"delay"`
	Failure Failure       `json:"failure"`
	// Part is the share of the queries, drawn at random, that are treated so,
	// from 0 to 1; the others are answered well. 0 means all.
	Part float64 `json:"part"`
	// Over is the transport whose queries are treated so, UDP or TCP; the other
	// is answered well. Empty means both. Drop over TCP accepts connections and
	// never answers on them.
	Over string `json:"over"`
	// Rate is how many queries are answered in any second, over all zones and
	// clients; those above it are dropped without a word, as a resolver does
	// that limits its rate. 0 means no limit.
	Rate int `json:"rate"`
}

// drawn is the behaviour for one query that came over a transport.
func (b Behaviour) drawn(over string) Behaviour {
	if b.Over != "" && b.Over != over || b.Part > 0 && rand.Float64() >= b.Part {
		return Behaviour{}
	}
	return b
}

// check refuses a behaviour that cannot be.
func (b Behaviour) check() error {
	switch b.Failure {
	case None, Drop, ServFail:
	default:
		return fmt.Errorf("failure %q: must be %q, %q or empty", b.Failure, Drop, ServFail)
	}
	if b.Delay < 0 {
		return fmt.Errorf("delay %v: must not be negative", b.Delay)
	}
	if b.Part < 0 || b.Part > 1 {
		return fmt.Errorf("part %v: must be from 0 to 1", b.Part)
	}
	if b.Over != "" && b.Over != UDP && b.Over != TCP {
		return fmt.Errorf("over %q: must be %q, %q or empty", b.Over, UDP, TCP)
	}
	if b.Rate < 0 {
		return fmt.Errorf("rate %d: must not be negative", b.Rate)
	}
	return nil
}

// Zone is a zone's state for its watchers: how it behaves, how many queries
// came, and how many of them got no right answer. Failed is the proof that a
// failure has met somebody.
type Zone struct {
	Behaviour
	Queries int `json:"queries"`
	Failed  int `json:"failed"`
}

// state holds the behaviour and the counters of every zone.
type state struct {
	mu      sync.Mutex
	zones   map[string]*Zone
	clients map[pair]Behaviour // of a zone towards one client
	passed  limiter            // what Behaviour.Rate let pass
}

// pair is a zone and one of its clients.
type pair struct {
	apex   string
	client netip.Addr
}

// newState makes the state for the zones of that content, all behaving.
func newState(content map[string]*zone) *state {
	s := &state{zones: make(map[string]*Zone, len(content)), clients: map[pair]Behaviour{}}
	for apex := range content {
		s.zones[apex] = &Zone{}
	}
	return s
}

// set gives the zone a behaviour, towards these clients or, if there are none,
// towards all that have none of their own.
func (s *state) set(apex string, b Behaviour, clients []netip.Addr) error {
	if err := b.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	z, ok := s.zones[apex]
	if !ok {
		return fmt.Errorf("zone %q: not served here", apex)
	}
	if len(clients) == 0 {
		z.Behaviour = b
	}
	for _, c := range clients {
		if s.clients[pair{apex, c}] = b; b == (Behaviour{}) {
			delete(s.clients, pair{apex, c})
		}
	}
	return nil
}

// count notes a client's query to the zone, over a transport, and returns how
// to treat it.
func (s *state) count(apex string, client netip.Addr, over string) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zones[apex]
	z.Queries++
	b, ok := s.clients[pair{apex, client}]
	if !ok {
		b = z.Behaviour
	}
	b = b.drawn(over)
	if b.Rate > 0 && !s.passed.allow(b.Rate, time.Now()) {
		b.Failure = Drop
	}
	if b.Failure != None {
		z.Failed++
	}
	return b
}

// snapshot copies the state of all zones.
func (s *state) snapshot() map[string]Zone {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := make(map[string]Zone, len(s.zones))
	for apex, z := range s.zones {
		m[apex] = *z
	}
	return m
}

// find is the most specific zone that name is in; the root holds every name.
func find(content map[string]*zone, name string) *zone {
	best := content[Root]
	for _, z := range content {
		if dns.IsSubDomain(z.apex, strings.ToLower(name)) && len(z.apex) > len(best.apex) {
			best = z
		}
	}
	return best
}
