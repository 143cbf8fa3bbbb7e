package bfd

import (
	"encoding/binary"
	"time"
)

const (
	version       = 1  // the protocol's only version (RFC 5880)
	packetLen     = 24 // the mandatory section
	packetAuthMin = 26 // with the shortest authentication section

	// maxPacketLen is the longest packet that there is: the mandatory section
	// and the longest authentication section, that of SHA1.
	maxPacketLen = packetLen + sha1SectionLen
)

// The bits of a packet's second byte, below the state.
const (
	bitPoll       = 1 << 5
	bitFinal      = 1 << 4
	bitControl    = 1 << 3
	bitAuth       = 1 << 2
	bitDemand     = 1 << 1
	bitMultipoint = 1 << 0
)

// A Packet is a BFD control packet (RFC 5880, section 4.1). Intervals are
// carried in whole microseconds of 32 bits, hence up to about 71 minutes.
type Packet struct {
	Diag  Diag
	State State

	// Poll asks for a packet with Final at once. A packet never has both.
	Poll, Final bool

	// ControlPlaneIndependent promises that the sender's BFD outlives its
	// control plane. Ours shares the fate of its process and never does.
	ControlPlaneIndependent bool

	// Demand asks the receiver not to send periodically.
	Demand bool

	// Multiplier is how many of the sender's intervals of silence mean that
	// the sender is gone.
	Multiplier uint8

	MyDiscriminator   uint32 // the sender's name for the session
	YourDiscriminator uint32 // the receiver's, zero if not known yet

	DesiredMinTx      time.Duration
	RequiredMinRx     time.Duration
	RequiredMinEchoRx time.Duration

	// Auth is the authentication section, nil without one. After Parse it
	// points into the parsed bytes.
	Auth []byte
}

// Parse reads a control packet from the payload of a UDP datagram and makes
// those checks of RFC 5880, section 6.8.6, that need no session, in the RFC's
// order. It returns Accepted, or why the packet must be discarded. Bytes that
// follow the packet's own length are ignored.
func Parse(b []byte) (Packet, Discard) {
	if len(b) > 0 && b[0]>>5 != version {
		return Packet{}, DiscardVersion
	}
	if len(b) < packetLen {
		return Packet{}, DiscardShort
	}
	length, auth := int(b[3]), b[1]&bitAuth != 0
	switch {
	case length < packetLen, auth && length < packetAuthMin:
		return Packet{}, DiscardShort
	case length > len(b):
		return Packet{}, DiscardLength
	case b[2] == 0:
		return Packet{}, DiscardMultiplier
	case b[1]&bitMultipoint != 0:
		return Packet{}, DiscardMultipoint
	}
	p := decode(b[:length], auth)
	if p.MyDiscriminator == 0 {
		return Packet{}, DiscardMyDiscriminator
	}
	return p, Accepted
}

// decode reads the fields of b, which is as long as the packet says.
func decode(b []byte, auth bool) Packet {
	p := Packet{
		Diag:                    Diag(b[0] & 0x1f),
		State:                   State(b[1] >> 6),
		Poll:                    b[1]&bitPoll != 0,
		Final:                   b[1]&bitFinal != 0,
		ControlPlaneIndependent: b[1]&bitControl != 0,
		Demand:                  b[1]&bitDemand != 0,
		Multiplier:              b[2],
		MyDiscriminator:         binary.BigEndian.Uint32(b[4:]),
		YourDiscriminator:       binary.BigEndian.Uint32(b[8:]),
		DesiredMinTx:            interval(b[12:]),
		RequiredMinRx:           interval(b[16:]),
		RequiredMinEchoRx:       interval(b[20:]),
	}
	if auth {
		p.Auth = b[packetLen:]
	}
	return p
}

// AppendTo appends the packet as it goes on the wire to b. The caller keeps
// the authentication section, if any, below 232 bytes; it is copied as it
// stands.
func (p *Packet) AppendTo(b []byte) []byte {
	b = append(b,
		version<<5|byte(p.Diag)&0x1f,
		byte(p.State)<<6|p.flags(),
		p.Multiplier,
		byte(packetLen+len(p.Auth)),
	)
	b = binary.BigEndian.AppendUint32(b, p.MyDiscriminator)
	b = binary.BigEndian.AppendUint32(b, p.YourDiscriminator)
	b = appendInterval(b, p.DesiredMinTx)
	b = appendInterval(b, p.RequiredMinRx)
	b = appendInterval(b, p.RequiredMinEchoRx)
	return append(b, p.Auth...)
}

// flags returns the bits of the second byte below the state.
func (p *Packet) flags() byte {
	var f byte
	for _, v := range [...]struct {
		set bool
		bit byte
	}{
		{p.Poll, bitPoll},
		{p.Final, bitFinal},
		{p.ControlPlaneIndependent, bitControl},
		{p.Auth != nil, bitAuth},
		{p.Demand, bitDemand},
	} {
		if v.set {
			f |= v.bit
		}
	}
	return f
}

// interval reads four bytes of microseconds.
func interval(b []byte) time.Duration {
	return time.Duration(binary.BigEndian.Uint32(b)) * time.Microsecond
}

// appendInterval appends d as four bytes of microseconds.
func appendInterval(b []byte, d time.Duration) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(d/time.Microsecond))
}
