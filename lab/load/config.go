package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"recuse/lab/load/stub"
)

// Transport is how clients reach their servers.
type Transport string

// The transports.
const (
	UDP        Transport = "udp"          // a new source port for each question (the default)
	UDPOnePort Transport = "udp-one-port" // one source port a client and server, kept
	TCP        Transport = "tcp"          // a connection for each question
	TCPKept    Transport = "tcp-kept"     // one connection a client and server, kept
	DoT        Transport = "dot"          // the same in TLS (RFC 7858)
)

// Transports are all of them, the default first.
func Transports() []Transport { return []Transport{UDP, UDPOnePort, TCP, TCPKept, DoT} }

// MaxRate is the highest rate that a run may have, in questions a second: what
// the generator is built and tested for on two cores.
const MaxRate = 50_000

// Config is one run.
type Config struct {
	Servers  []netip.AddrPort // what a client was given, in order
	Clients  []Network        // each asks in its turn; none: one client, here
	Rate     float64          // questions a second of all clients together
	Duration time.Duration    // how long questions are sent; 0: until the context ends
	Patience time.Duration    // how long after the last question those under way are awaited; 0: until their stubs give up
	Mix      Mix              // Household if empty

	Stub      stub.Model  // how a client goes about it; stub.None if zero
	Transport Transport   // UDP if empty
	TLS       *tls.Config // of DoT; nil: the certificate is not verified

	// Record, if set, is told each record as it ends, one at a time, in the order
	// in which they end. It may be slow: it delays no question.
	Record func(Record)
	// Discard makes Run return no records: for runs so long that only Record
	// should have them.
	Discard bool
}

// withDefaults fills what may be left out.
func (c Config) withDefaults() Config {
	if len(c.Clients) == 0 {
		c.Clients = []Network{{}}
	}
	if len(c.Mix) == 0 {
		c.Mix = Household()
	}
	if c.Stub.New == nil {
		c.Stub = stub.None(stub.NoneTimeout)
	}
	if c.Transport == "" {
		c.Transport = UDP
	}
	if c.TLS == nil {
		// The lab's resolvers sign their own certificates, and what is measured is
		// the path and not the trust.
		c.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	return c
}

// check refuses a run that cannot be.
func (c Config) check() error {
	switch {
	case c.Rate <= 0:
		return fmt.Errorf("rate %v: must be more than 0 a second", c.Rate)
	case c.Rate > MaxRate:
		return fmt.Errorf("rate %v: must be at most %d a second", c.Rate, MaxRate)
	case len(c.Servers) == 0:
		return errors.New("servers: nobody to ask")
	case len(c.Servers) > stub.MaxServers:
		return fmt.Errorf("servers: %d of them, at most %d", len(c.Servers), stub.MaxServers)
	case c.Duration < 0:
		return fmt.Errorf("duration %s: must not be negative", c.Duration)
	case c.Patience < 0:
		return fmt.Errorf("patience %s: must not be negative", c.Patience)
	case c.Transport != "" && !slices.Contains(Transports(), c.Transport):
		return fmt.Errorf("transport %q: must be one of %s", c.Transport, joined(Transports()))
	}
	for i, s := range c.Servers {
		if !s.IsValid() || s.Port() == 0 {
			return fmt.Errorf("servers[%d]: %q: must be an address with a port", i, s)
		}
	}
	return nil
}

// joined lists transports for people.
func joined(all []Transport) string {
	var out []string
	for _, t := range all {
		out = append(out, string(t))
	}
	return strings.Join(out, ", ")
}
