package bfd

import (
	"net/netip"
	"time"
)

// A datagram is what came in on one of the engine's ports.
type datagram struct {
	payload  []byte // valid during the call only
	from, to netip.Addr
	ifindex  int // of the interface it came in on
	ttl      int // -1 if the kernel did not tell
	multihop bool
	at       time.Time // when the kernel got it
}

// deliver handles one datagram to its end, in the goroutine of its caller.
func (e *Engine) deliver(d *datagram) {
	p, discard := Parse(d.payload)
	if discard == Accepted {
		var s *Session
		if s, discard = e.find(&p, d); s != nil {
			s.receive(&p, d)
			return
		}
	}
	e.strayMu.Lock()
	e.stray[discard]++
	e.strayMu.Unlock()
}

// find selects the session of a packet (RFC 5880, section 6.8.6). With Your
// Discriminator nothing else counts, the source address included (section
// 6.3), apart from the port, which tells single hop from multihop. Without it,
// addresses and the interface tell (RFC 5881, section 3; RFC 5883, section 4).
func (e *Engine) find(p *Packet, d *datagram) (*Session, Discard) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if p.YourDiscriminator != 0 {
		s := e.byDiscr[p.YourDiscriminator]
		switch {
		case s == nil:
			return nil, DiscardUnknown
		case s.conf.Multihop != d.multihop:
			return nil, DiscardPort
		}
		return s, Accepted
	}
	if p.State != Down && p.State != AdminDown {
		return nil, DiscardState
	}
	for _, s := range e.byPeer[d.from] {
		if s.matches(d) {
			return s, Accepted
		}
	}
	return nil, DiscardNoSession
}
