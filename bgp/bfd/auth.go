package bfd

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
)

// An AuthType is a way to authenticate packets, with the values of RFC 5880,
// section 4.1.
type AuthType uint8

// The types of RFC 5880. A meticulous type refuses each sequence number that
// it has seen, the others accept one again: only the meticulous ones keep a
// recorded packet from being played back.
const (
	SimplePassword AuthType = 1 + iota
	KeyedMD5
	MeticulousKeyedMD5
	KeyedSHA1
	MeticulousKeyedSHA1
)

// authTypeNames holds the names under which configurations speak of them.
var authTypeNames = [...]string{
	SimplePassword:      "simple",
	KeyedMD5:            "keyed-md5",
	MeticulousKeyedMD5:  "meticulous-keyed-md5",
	KeyedSHA1:           "keyed-sha1",
	MeticulousKeyedSHA1: "meticulous-keyed-sha1",
}

// String returns the name that ParseAuthType reads.
func (t AuthType) String() string {
	if t >= SimplePassword && int(t) < len(authTypeNames) {
		return authTypeNames[t]
	}
	return fmt.Sprintf("auth-type-%d", uint8(t))
}

// ParseAuthType reads a name such as "meticulous-keyed-sha1".
func ParseAuthType(s string) (AuthType, error) {
	for t := SimplePassword; t <= MeticulousKeyedSHA1; t++ {
		if authTypeNames[t] == s {
			return t, nil
		}
	}
	return 0, fmt.Errorf("authentication %q: must be one of %q",
		s, authTypeNames[SimplePassword:])
}

// An Auth makes a session authenticate its packets and refuse others. The
// first key signs, each of them is accepted: so a key is changed by adding
// the new one last on both ends, then moving it first on both ends, then
// taking the old one away.
type Auth struct {
	Type AuthType
	Keys []Key
}

// A Key is a shared secret and the number under which packets name it.
type Key struct {
	ID     uint8
	Secret []byte
}

// Lengths of authentication sections and secrets (RFC 5880, 4.2 to 4.4).
const (
	simpleHeaderLen = 3 // type, length, key ID
	digestHeaderLen = 8 // those, a reserved byte, the sequence number
	md5SectionLen   = digestHeaderLen + md5.Size
	sha1SectionLen  = digestHeaderLen + sha1.Size
	maxPassword     = 16
)

// validate tells what is wrong with a configuration of authentication.
func (a *Auth) validate() error {
	if a.Type < SimplePassword || a.Type > MeticulousKeyedSHA1 {
		return fmt.Errorf("auth.type: %d: must be 1 to 5", a.Type)
	}
	if len(a.Keys) == 0 {
		return fmt.Errorf("auth.keys: none: %v needs at least one", a.Type)
	}
	seen := make(map[uint8]bool)
	for i, k := range a.Keys {
		if n := len(k.Secret); n < 1 || n > a.Type.maxSecret() {
			return fmt.Errorf("auth.keys[%d]: a secret of %d bytes: %v takes 1 to %d",
				i, n, a.Type, a.Type.maxSecret())
		}
		if seen[k.ID] {
			return fmt.Errorf("auth.keys[%d].id: %d: already used by another key", i, k.ID)
		}
		seen[k.ID] = true
	}
	return nil
}

// maxSecret returns the greatest length of a secret in bytes.
func (t AuthType) maxSecret() int {
	if t == KeyedSHA1 || t == MeticulousKeyedSHA1 {
		return sha1.Size
	}
	return maxPassword
}

// meticulous reports whether each packet needs a sequence number of its own.
func (t AuthType) meticulous() bool {
	return t == MeticulousKeyedMD5 || t == MeticulousKeyedSHA1
}

// sectionLen returns the length of the authentication section made with k.
func (t AuthType) sectionLen(k Key) int {
	switch t {
	case SimplePassword:
		return simpleHeaderLen + len(k.Secret)
	case KeyedMD5, MeticulousKeyedMD5:
		return md5SectionLen
	default:
		return sha1SectionLen
	}
}

// key returns the key with that ID.
func (a *Auth) key(id uint8) (Key, bool) {
	for _, k := range a.Keys {
		if k.ID == id {
			return k, true
		}
	}
	return Key{}, false
}

// sign appends p with an authentication section to b (RFC 5880, 6.7.2 to
// 6.7.4). It signs with the first key and carries the sequence number seq.
func (a *Auth) sign(b []byte, p Packet, seq uint32) []byte {
	k, start := a.Keys[0], len(b)
	p.Auth = make([]byte, a.Type.sectionLen(k))
	p.Auth[0], p.Auth[1], p.Auth[2] = byte(a.Type), byte(len(p.Auth)), k.ID
	if a.Type == SimplePassword {
		copy(p.Auth[simpleHeaderLen:], k.Secret)
		return p.AppendTo(b)
	}
	binary.BigEndian.PutUint32(p.Auth[4:], seq)
	b = p.AppendTo(b)
	a.digest(b[start:], k)
	return b
}

// digest puts the digest of a whole packet in its place. The secret, filled
// up with zeros, stands there while the digest is made.
func (a *Auth) digest(packet []byte, k Key) {
	field := packet[packetLen+digestHeaderLen:]
	clear(field)
	copy(field, k.Secret)
	if len(field) == md5.Size {
		sum := md5.Sum(packet)
		copy(field, sum[:])
		return
	}
	sum := sha1.Sum(packet)
	copy(field, sum[:])
}

// A sequence is what one end knows of the other's sequence numbers.
type sequence struct {
	known bool   // bfd.AuthSeqKnown
	last  uint32 // bfd.RcvAuthSeq, if known
}

// accept applies the window of RFC 5880, 6.7.3 and 6.7.4, with the arithmetic
// of circular numbers: seq may be up to 3 x mult ahead of the last one, and
// may repeat that one unless the type is meticulous.
func (s sequence) accept(t AuthType, seq uint32, mult uint8) bool {
	if !s.known {
		return true
	}
	ahead := seq - s.last
	if t.meticulous() && ahead == 0 {
		return false
	}
	return ahead <= 3*uint32(mult)
}

// verify authenticates a packet with an authentication section (RFC 5880,
// 6.7.2 to 6.7.4) and returns what is then known of the peer's sequence.
//
// In one thing it is stricter than the RFC's order of steps: a first sequence
// number is learned only from a packet whose digest is right, so that nobody
// without the key can put the window out of the peer's reach.
func (a *Auth) verify(raw []byte, p *Packet, s sequence) (sequence, Discard) {
	if AuthType(p.Auth[0]) != a.Type {
		return s, DiscardAuthType
	}
	if len(p.Auth) <= simpleHeaderLen {
		return s, DiscardAuthLength
	}
	k, ok := a.key(p.Auth[2])
	if !ok {
		return s, DiscardAuthKey
	}
	if n := a.Type.sectionLen(k); len(p.Auth) != n || int(p.Auth[1]) != n {
		return s, DiscardAuthLength
	}
	if a.Type == SimplePassword {
		if subtle.ConstantTimeCompare(p.Auth[simpleHeaderLen:], k.Secret) != 1 {
			return s, DiscardAuthDigest
		}
		return s, Accepted
	}
	seq := binary.BigEndian.Uint32(p.Auth[4:])
	if !s.accept(a.Type, seq, p.Multiplier) {
		return s, DiscardAuthSequence
	}
	var buf [maxPacketLen]byte
	want := append(buf[:0], raw[:packetLen+len(p.Auth)]...)
	a.digest(want, k)
	if subtle.ConstantTimeCompare(want, raw[:len(want)]) != 1 {
		return s, DiscardAuthDigest
	}
	return sequence{known: true, last: seq}, Accepted
}
