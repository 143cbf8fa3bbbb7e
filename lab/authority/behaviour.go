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

// Behaviour is how a zone answers: Delay passes before the answer or the
// SERVFAIL leaves.
type Behaviour struct {
	Delay   time.Duration `json:"delay"`
	Failure Failure       `json:"failure"`
	// Part is the share of the queries, drawn at random, that are treated so,
	// from 0 to 1; the others are answered well. 0 means all.
	Part float64 `json:"part"`
}

// drawn is the behaviour for one query.
func (b Behaviour) drawn() Behaviour {
	if b.Part > 0 && rand.Float64() >= b.Part {
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

// count notes a client's query to the zone and returns how to treat it.
func (s *state) count(apex string, client netip.Addr) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zones[apex]
	z.Queries++
	b, ok := s.clients[pair{apex, client}]
	if !ok {
		b = z.Behaviour
	}
	if b = b.drawn(); b.Failure != None {
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
