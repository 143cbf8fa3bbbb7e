package bgp

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"recuse/bgp/bfd"
)

// Defaults for what a Config leaves zero.
const (
	defaultPort         = 179 // RFC 4271, section 8.2.1.3
	defaultHoldTime     = 9 * time.Second
	defaultConnectRetry = 2 * time.Second
	minHoldTime         = 3 * time.Second // RFC 4271, section 4.2
	maxPassword         = 80              // TCP_MD5SIG_MAXKEYLEN
	minBFD              = 10 * time.Millisecond
	maxBFD              = time.Minute
)

// Config says who we are and which routers to speak to.
type Config struct {
	// ASN is our own AS number.
	ASN uint32
	// RouterID is our BGP identifier. Zero: the local IPv4 address towards
	// the first peer, fixed at first use.
	RouterID netip.Addr
	// Listen is where routers may connect to. Zero: we only dial.
	Listen netip.AddrPort
	// Communities go with every route, standard ("65000:53") or large
	// ("65000:1:2").
	Communities []string
	// Deprefer says what makes a route second choice on eBGP.
	Deprefer Deprefer
	// Peers are the routers, each with an address of its own.
	Peers []Peer
}

// Deprefer holds the attributes of a second choice on eBGP.
type Deprefer struct {
	// Prepend is how many times more than once our AS is in the path.
	Prepend int
	// MED is sent in place of 0.
	MED uint32
}

// Peer is one router.
type Peer struct {
	// Address is the router's; link-local with a zone or with Interface.
	Address netip.Addr
	// ASN is the router's AS number; our own makes the session iBGP.
	ASN uint32
	// Port is the router's TCP port. Zero: 179.
	Port uint16
	// LocalAddress is where the connection starts. Zero: the kernel's choice.
	LocalAddress netip.Addr
	// Interface binds the connection to a link.
	Interface string
	// Password is the key of RFC 2385. Empty: none.
	Password string
	// TTLSecurity demands that packets have crossed no router (RFC 5082).
	TTLSecurity bool
	// Multihop is the TTL for an eBGP router that is not on the link.
	Multihop int
	// Communities go with every route to this router, beside the global ones.
	Communities []string
	// NextHopV4 and NextHopV6 override the next hop of a family.
	NextHopV4, NextHopV6 netip.Addr
	// HoldTime is what we offer; zero: 9 s.
	HoldTime time.Duration
	// ConnectRetry is the longest time between two dials; zero: 2 s.
	ConnectRetry time.Duration
	// BFD runs beside BGP and closes it when it goes down. Nil: none. It is
	// multihop (RFC 5883) if Multihop is above 1.
	BFD *BFD
}

// BFD is the session of RFC 5880 with a peer.
type BFD struct {
	// Interval is how often we send and how often we can bear to receive;
	// zero: 300 ms.
	Interval time.Duration
	// Multiplier is how many packets may be missed; zero: 3.
	Multiplier int
	// Strict makes BGP wait for BFD for up to a minute, not for 5 s.
	Strict bool
	// Auth authenticates the packets, if set.
	Auth *bfd.Auth
}

// Route is one announced prefix.
type Route struct {
	// Prefix is masked, IPv4 or IPv6.
	Prefix netip.Prefix
	// Depreferred makes it a second choice.
	Depreferred bool
}

// external reports whether the session with p is eBGP.
func (c Config) external(p Peer) bool { return p.ASN != c.ASN }

// withDefaults returns a copy of c with zero values filled and addresses in
// one form (no IPv4 in IPv6, a zone on every link-local address).
func (c Config) withDefaults() Config {
	peers := make([]Peer, len(c.Peers))
	for i, p := range c.Peers {
		peers[i] = p.withDefaults()
	}
	c.Peers = peers
	c.RouterID = c.RouterID.Unmap()
	return c
}

// withDefaults is the same for one peer.
func (p Peer) withDefaults() Peer {
	p.Address = p.Address.Unmap()
	if p.Address.IsLinkLocalUnicast() && p.Address.Is6() {
		if p.Interface == "" {
			p.Interface = p.Address.Zone()
		}
		p.Address = p.Address.WithZone(p.Interface)
	}
	p.LocalAddress = p.LocalAddress.Unmap()
	p.NextHopV4 = p.NextHopV4.Unmap()
	if p.Port == 0 {
		p.Port = defaultPort
	}
	if p.HoldTime == 0 {
		p.HoldTime = defaultHoldTime
	}
	if p.ConnectRetry == 0 {
		p.ConnectRetry = defaultConnectRetry
	}
	if p.BFD != nil {
		b := p.BFD.withDefaults()
		p.BFD = &b
	}
	return p
}

// withDefaults is the same for BFD.
func (b BFD) withDefaults() BFD {
	if b.Interval == 0 {
		b.Interval = bfd.DefaultInterval
	}
	if b.Multiplier == 0 {
		b.Multiplier = bfd.DefaultMultiplier
	}
	return b
}

// validate returns every rule that c breaks, joined, or nil. It expects a
// Config that has its defaults.
func (c Config) validate() error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(format, args...))
	}
	if c.ASN == 0 {
		add("bgp.asn: 0: must be 1 to 4294967295")
	}
	if c.RouterID.IsValid() && (!c.RouterID.Is4() || c.RouterID.IsUnspecified()) {
		add("bgp.router_id: %q: must be an IPv4 address", c.RouterID)
	}
	if c.Deprefer.Prepend < 0 || c.Deprefer.Prepend > 20 {
		add("bgp.deprefer.prepend: %d: must be 0 to 20", c.Deprefer.Prepend)
	}
	if err := checkCommunities(c.Communities); err != nil {
		add("bgp.communities: %w", err)
	}
	if len(c.Peers) == 0 {
		add("bgp.peers: at least one is needed")
	}
	seen := make(map[netip.Addr]bool)
	for i, p := range c.Peers {
		for _, err := range p.validate() {
			add("bgp.peers[%d].%w", i, err)
		}
		if seen[p.Address] {
			add("bgp.peers[%d].address: %q: named twice", i, p.Address)
		}
		seen[p.Address] = true
	}
	return errors.Join(errs...)
}

// validate returns every rule that p breaks, each named by its key.
func (p Peer) validate() []error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(format, args...))
	}
	if !p.Address.IsValid() || p.Address.IsUnspecified() || p.Address.IsMulticast() {
		add("address: %q: must be a router's address", p.Address)
	}
	if p.Address.IsLinkLocalUnicast() && p.Address.Is6() && p.Interface == "" {
		add("interface: needed for link-local address %s", p.Address)
	}
	if p.ASN == 0 {
		add("asn: 0: must be 1 to 4294967295")
	}
	if p.LocalAddress.IsValid() && p.LocalAddress.Is4() != p.Address.Is4() {
		add("local_address: %q: not of the family of %s", p.LocalAddress, p.Address)
	}
	if len(p.Password) > maxPassword {
		add("password: %d bytes: at most %d", len(p.Password), maxPassword)
	}
	if p.Multihop < 0 || p.Multihop > 255 {
		add("multihop: %d: must be 1 to 255", p.Multihop)
	}
	if p.TTLSecurity && p.Multihop > 1 {
		add("ttl_security: excludes multihop: %d", p.Multihop)
	}
	if p.NextHopV4.IsValid() && (!p.NextHopV4.Is4() || p.NextHopV4.IsUnspecified()) {
		add("next_hop_v4: %q: must be an IPv4 address", p.NextHopV4)
	}
	if h := p.NextHopV6; h.IsValid() && (!h.Is6() || h.Is4In6() || h.IsUnspecified()) {
		add("next_hop_v6: %q: must be an IPv6 address", h)
	}
	if p.HoldTime < minHoldTime || p.HoldTime > time.Hour {
		add("hold_time: %s: must be 3s to 1h", p.HoldTime)
	}
	if p.ConnectRetry < 0 {
		add("connect_retry: %s: must not be negative", p.ConnectRetry)
	}
	if err := checkCommunities(p.Communities); err != nil {
		add("communities: %w", err)
	}
	if p.BFD != nil {
		errs = append(errs, p.BFD.validate()...)
	}
	return errs
}

// validate returns every rule that b breaks, each named by its key.
func (b BFD) validate() []error {
	var errs []error
	if b.Interval < minBFD || b.Interval > maxBFD {
		errs = append(errs, fmt.Errorf("bfd.interval: %s: must be %s to %s", b.Interval, minBFD, maxBFD))
	}
	if b.Multiplier < 1 || b.Multiplier > 255 {
		errs = append(errs, fmt.Errorf("bfd.multiplier: %d: must be 1 to 255", b.Multiplier))
	}
	if b.Auth != nil {
		if err := b.Auth.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("bfd.%w", err))
		}
	}
	return errs
}
