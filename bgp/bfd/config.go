package bfd

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// The defaults of a session: it notices a dead peer after 900 ms.
const (
	DefaultInterval   = 300 * time.Millisecond
	DefaultMultiplier = 3
)

// The bounds of intervals. Below the least no general purpose system keeps
// its schedule; the greatest is the wire's.
const (
	minInterval = 10 * time.Millisecond
	maxInterval = (1<<32 - 1) * time.Microsecond
)

// A Config is one session. Only Peer must be set.
type Config struct {
	// Peer is the other end's address. A link-local address has a zone or an
	// Interface. Local is ours; without it, the kernel picks the address that
	// leads to Peer.
	Peer, Local netip.Addr

	// Interface, if set, is the only one on which the session's packets are
	// sent, and on which a peer that does not know the session yet is heard.
	Interface string

	// Multihop makes a session of RFC 5883, for a peer that is not on a link
	// of ours. Its packets must arrive with a TTL of at least MinTTL: a peer
	// n hops away, which sends with 255, is received with 256-n. Zero lets
	// every TTL in, as BIRD needs it, which sends with 64. A single hop session
	// requires 255 in any case.
	Multihop bool
	MinTTL   uint8

	// DesiredMinTx is how often we want to send and RequiredMinRx how often
	// we can bear to receive; on each direction the slower end decides. Zero
	// is DefaultInterval.
	DesiredMinTx, RequiredMinRx time.Duration

	// Multiplier is how many of our packets may be missed before the peer
	// counts us as gone. Zero is DefaultMultiplier.
	Multiplier uint8

	// Auth, if set, authenticates packets. The peer must be set likewise.
	Auth *Auth

	// AdminDown makes the session begin as Session.SetAdminDown(true) would
	// leave it.
	AdminDown bool
}

// Intervals are the parts of a Config that may change while the session
// lives, with the same meanings and defaults.
type Intervals struct {
	DesiredMinTx, RequiredMinRx time.Duration
	Multiplier                  uint8
}

// normalize returns i with its defaults.
func (i Intervals) normalize() Intervals {
	if i.DesiredMinTx == 0 {
		i.DesiredMinTx = DefaultInterval
	}
	if i.RequiredMinRx == 0 {
		i.RequiredMinRx = DefaultInterval
	}
	if i.Multiplier == 0 {
		i.Multiplier = DefaultMultiplier
	}
	return i
}

// validate tells what is wrong with normalized intervals.
func (i Intervals) validate() error {
	return errors.Join(
		checkInterval("desired_min_tx", i.DesiredMinTx),
		checkInterval("required_min_rx", i.RequiredMinRx))
}

// checkInterval tells whether d can be kept and carried.
func checkInterval(name string, d time.Duration) error {
	if d < minInterval || d > maxInterval {
		return fmt.Errorf("%s: %v: must be %v to %v", name, d, minInterval, maxInterval)
	}
	return nil
}

// normalize returns c in the form the rest of the package relies on: no
// IPv4-mapped addresses, the zone as the interface, intervals not zero.
func (c Config) normalize() Config {
	c.Peer, c.Local = c.Peer.Unmap(), c.Local.Unmap()
	if c.Interface == "" {
		c.Interface = c.Peer.Zone()
	}
	c.Peer, c.Local = c.Peer.WithZone(""), c.Local.WithZone("")
	i := c.intervals().normalize()
	c.DesiredMinTx, c.RequiredMinRx, c.Multiplier = i.DesiredMinTx, i.RequiredMinRx, i.Multiplier
	if !c.Multihop {
		c.MinTTL = 255
	}
	return c
}

// intervals returns the part that may change.
func (c *Config) intervals() Intervals {
	return Intervals{c.DesiredMinTx, c.RequiredMinRx, c.Multiplier}
}

// validate tells everything that is wrong with a normalized configuration.
func (c *Config) validate() error {
	errs := []error{c.intervals().validate()}
	switch {
	case !c.Peer.IsValid() || c.Peer.IsUnspecified() || c.Peer.IsMulticast():
		errs = append(errs, fmt.Errorf("peer: %v: must be the address of one host", c.Peer))
	case c.Local.IsValid() && c.Local.Is4() != c.Peer.Is4():
		errs = append(errs, fmt.Errorf("local: %v: must be of the family of the peer, %v", c.Local, c.Peer))
	case c.Peer.IsLinkLocalUnicast() && c.Peer.Is6() && c.Interface == "":
		errs = append(errs, fmt.Errorf("peer: %v: a link-local address needs an interface", c.Peer))
	}
	if c.Multihop && c.Interface != "" {
		errs = append(errs, fmt.Errorf("interface: %s: a multihop session has none", c.Interface))
	}
	if c.Auth != nil {
		errs = append(errs, c.Auth.Validate())
	}
	return errors.Join(errs...)
}

// machine returns the part that the state machine needs.
func (c *Config) machine() config {
	return config{
		minTx:      c.DesiredMinTx,
		minRx:      c.RequiredMinRx,
		detectMult: c.Multiplier,
		minTTL:     c.MinTTL,
		auth:       c.Auth,
	}
}
