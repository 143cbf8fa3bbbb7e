package bgp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
)

// Message types (RFC 4271, section 4.1).
const (
	typeOpen         = 1
	typeUpdate       = 2
	typeNotification = 3
	typeKeepalive    = 4
)

const (
	headerLen  = 19
	maxMessage = 65535 // RFC 8654; GoBGP judges what is too long
	asTrans    = 23456 // RFC 6793
)

// Codes of an OPEN that are read along.
const (
	paramCapabilities = 2 // RFC 5492
	capMultiprotocol  = 1 // RFC 4760
	capExtendedHop    = 5 // RFC 8950
	capFourOctetAS    = 65
	capAddPath        = 69 // RFC 7911
)

// errNotBGP says that a header has no marker or an impossible length.
var errNotBGP = errors.New("not a BGP message header")

// marker opens every message.
var marker = bytes.Repeat([]byte{0xff}, 16)

// header returns the length of a whole message and its type, from its first
// 19 bytes.
func header(b []byte) (length int, kind uint8, err error) {
	if len(b) < headerLen || !bytes.Equal(b[:16], marker) {
		return 0, 0, errNotBGP
	}
	length = int(binary.BigEndian.Uint16(b[16:18]))
	if length < headerLen {
		return 0, 0, errNotBGP
	}
	return length, b[18], nil
}

// message returns a whole message of that type.
func message(kind uint8, body []byte) []byte {
	b := make([]byte, 0, headerLen+len(body))
	b = append(b, marker...)
	b = binary.BigEndian.AppendUint16(b, uint16(headerLen+len(body)))
	b = append(b, kind)
	return append(b, body...)
}

// open is what an OPEN says of its sender.
type open struct {
	asn      uint32
	hold     time.Duration
	routerID netip.Addr
	// v4 and v6: it takes unicast routes of that family.
	v4, v6 bool
	// extendedHop: it takes IPv4 unicast routes with an IPv6 next hop.
	extendedHop bool
	multi       bool // it named any family
	fourOctet   bool // it writes AS numbers in four bytes
	// pathID4 and pathID6: it offers to send several paths of that family.
	pathID4, pathID6 bool
}

// dialect is how the sender of o writes UPDATEs to us, who offer all of it.
func (o open) dialect() dialect {
	return dialect{narrow: !o.fourOctet, pathID4: o.pathID4, pathID6: o.pathID6}
}

// ourDialect is how we write UPDATEs to it.
func (o open) ourDialect() dialect { return dialect{narrow: !o.fourOctet} }

// parseOpen reads a whole OPEN message as far as it makes sense. It judges
// nothing: GoBGP does, and gets the same bytes.
func parseOpen(msg []byte) (open, bool) {
	if len(msg) < headerLen+10 || msg[18] != typeOpen {
		return open{}, false
	}
	b := msg[headerLen:]
	o := open{
		asn:      uint32(binary.BigEndian.Uint16(b[1:3])),
		hold:     time.Duration(binary.BigEndian.Uint16(b[3:5])) * time.Second,
		routerID: netip.AddrFrom4([4]byte(b[5:9])),
	}
	params, wide := b[10:], false
	if b[9] == 255 && len(params) >= 3 && params[0] == 255 { // RFC 9072
		params, wide = params[3:], true
	}
	for len(params) > 0 {
		kind, value, rest, ok := parameter(params, wide)
		if !ok {
			break
		}
		if kind == paramCapabilities {
			o.capabilities(value)
		}
		params = rest
	}
	if !o.multi {
		o.v4 = true // a router that names no family speaks IPv4
	}
	return o, true
}

// parameter splits the first type, length, value off b. The length has two
// bytes if wide (RFC 9072), else one.
func parameter(b []byte, wide bool) (kind uint8, value, rest []byte, ok bool) {
	n := 2
	if wide {
		n = 3
	}
	if len(b) < n {
		return 0, nil, nil, false
	}
	size := int(b[1])
	if wide {
		size = int(binary.BigEndian.Uint16(b[1:3]))
	}
	if len(b) < n+size {
		return 0, nil, nil, false
	}
	return b[0], b[n : n+size], b[n+size:], true
}

// capabilities reads one capabilities parameter into o (RFC 5492).
func (o *open) capabilities(b []byte) {
	for len(b) > 0 {
		code, value, rest, ok := parameter(b, false)
		if !ok {
			return
		}
		switch code {
		case capMultiprotocol:
			o.multi = true
			o.v4 = o.v4 || bytes.Equal(value, []byte{0, 1, 0, 1})
			o.v6 = o.v6 || bytes.Equal(value, []byte{0, 2, 0, 1})
		case capFourOctetAS:
			if len(value) == 4 {
				o.fourOctet = true
				o.asn = binary.BigEndian.Uint32(value)
			}
		case capExtendedHop:
			o.extendedHop = o.extendedHop || hasExtendedHop(value)
		case capAddPath:
			o.addPath(value)
		}
		b = rest
	}
}

// hasExtendedHop looks for IPv4 unicast over IPv6 in the triples of RFC 8950,
// section 4.
func hasExtendedHop(b []byte) bool {
	want := []byte{0, 1, 0, 1, 0, 2}
	for ; len(b) >= len(want); b = b[len(want):] {
		if bytes.Equal(b[:len(want)], want) {
			return true
		}
	}
	return false
}

// addPath reads the families that the sender offers to send several paths of:
// AFI, SAFI, and 2 or 3 for sending (RFC 7911, section 4).
func (o *open) addPath(b []byte) {
	for ; len(b) >= 4; b = b[4:] {
		sends := b[3] == 2 || b[3] == 3
		o.pathID4 = o.pathID4 || sends && bytes.Equal(b[:3], []byte{0, 1, 1})
		o.pathID6 = o.pathID6 || sends && bytes.Equal(b[:3], []byte{0, 2, 1})
	}
}
