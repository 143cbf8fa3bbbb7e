package bfd

import "fmt"

// A Discard is the reason for which a received packet was thrown away, or
// Accepted. The order is that in which the checks are made.
type Discard uint8

// The reasons of RFC 5880, sections 6.7 and 6.8.6, and RFC 5881, section 5.
const (
	Accepted                Discard = iota
	DiscardVersion                  // the version is not 1
	DiscardShort                    // shorter than the RFC allows
	DiscardLength                   // says that it is longer than it is
	DiscardMultiplier               // Detect Mult is zero
	DiscardMultipoint               // the M bit is set
	DiscardMyDiscriminator          // My Discriminator is zero
	DiscardUnknown                  // Your Discriminator names no session
	DiscardState                    // no Your Discriminator, yet Init or Up
	DiscardNoSession                // no session with that peer
	DiscardPort                     // to the other port: single hop, multihop
	DiscardTTL                      // came from farther away than allowed
	DiscardAuthUnexpected           // authenticated, but we have no keys
	DiscardAuthMissing              // not authenticated, but it must be
	DiscardAuthType                 // another type of authentication
	DiscardAuthKey                  // a key ID that we do not have
	DiscardAuthLength               // authentication of a wrong length
	DiscardAuthSequence             // sequence number outside the window
	DiscardAuthDigest               // wrong password or digest
	DiscardLocallyAdminDown         // we are taken down: nothing counts
	discards                        // how many there are
)

// discardNames holds a short name for each Discard, fit for a metric label.
var discardNames = [discards]string{
	Accepted:                "accepted",
	DiscardVersion:          "version",
	DiscardShort:            "short",
	DiscardLength:           "length",
	DiscardMultiplier:       "multiplier",
	DiscardMultipoint:       "multipoint",
	DiscardMyDiscriminator:  "my_discriminator",
	DiscardUnknown:          "unknown_discriminator",
	DiscardState:            "state",
	DiscardNoSession:        "no_session",
	DiscardPort:             "port",
	DiscardTTL:              "ttl",
	DiscardAuthUnexpected:   "auth_unexpected",
	DiscardAuthMissing:      "auth_missing",
	DiscardAuthType:         "auth_type",
	DiscardAuthKey:          "auth_key",
	DiscardAuthLength:       "auth_length",
	DiscardAuthSequence:     "auth_sequence",
	DiscardAuthDigest:       "auth_digest",
	DiscardLocallyAdminDown: "admin_down",
}

// String returns the short name, such as "ttl".
func (d Discard) String() string {
	if d < discards {
		return discardNames[d]
	}
	return fmt.Sprintf("discard_%d", uint8(d))
}

// MarshalText writes the reason as String does, also as a key of a JSON map.
func (d Discard) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// discardCounts counts packets by their fate.
type discardCounts [discards]uint64

// snapshot returns the counts that are not zero, without the packets that
// were accepted.
func (c *discardCounts) snapshot() map[Discard]uint64 {
	m := make(map[Discard]uint64)
	for d, n := range c {
		if Discard(d) != Accepted && n > 0 {
			m[Discard(d)] = n
		}
	}
	return m
}
