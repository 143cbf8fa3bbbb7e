package authority

import (
	"fmt"
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
	mu    sync.Mutex
	zones map[string]*Zone
}

// newState makes the state for the zones of that content, all behaving.
func newState(content map[string]*zone) *state {
	s := &state{zones: make(map[string]*Zone, len(content))}
	for apex := range content {
		s.zones[apex] = &Zone{}
	}
	return s
}

// set gives the zone a behaviour.
func (s *state) set(apex string, b Behaviour) error {
	switch b.Failure {
	case None, Drop, ServFail:
	default:
		return fmt.Errorf("failure %q: must be %q, %q or empty", b.Failure, Drop, ServFail)
	}
	if b.Delay < 0 {
		return fmt.Errorf("delay %v: must not be negative", b.Delay)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	z, ok := s.zones[apex]
	if !ok {
		return fmt.Errorf("zone %q: not served here", apex)
	}
	z.Behaviour = b
	return nil
}

// count notes a query to the zone and returns how to treat it.
func (s *state) count(apex string) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zones[apex]
	z.Queries++
	if z.Failure != None {
		z.Failed++
	}
	return z.Behaviour
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
