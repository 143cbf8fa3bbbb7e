package bfd

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
)

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
