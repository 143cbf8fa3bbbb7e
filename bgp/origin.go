package bgp

import "encoding/binary"

// Segments of an AS_PATH (RFC 4271, section 4.3; RFC 5065).
const (
	segmentSequence       = 2
	segmentConfederations = 3
)

// originAS is who made a route: the last AS of its path. Empty says that there
// is none in the path, as for a route of the own AS; one that ends in a set is
// nobody's.
type originAS struct {
	asn   uint32
	empty bool
}

// path reads an AS_PATH.
func (o *originAS) path(b []byte, narrow bool) error {
	size := 4
	if narrow {
		size = 2
	}
	return o.read(b, size)
}

// path4 reads an AS4_PATH, which a router of two bytes passes on and which
// counts in place of AS_TRANS (RFC 6793, section 4.2.3). GoBGP and FRR write
// it after the AS_PATH, as the order of their types has it.
func (o *originAS) path4(b []byte) error {
	if o.asn != asTrans {
		return nil
	}
	return o.read(b, 4)
}

// read keeps the last AS of the last segment, each AS of size bytes.
func (o *originAS) read(b []byte, size int) error {
	*o = originAS{empty: len(b) == 0}
	for len(b) > 0 {
		if len(b) < 2 || len(b) < 2+int(b[1])*size {
			return errShort
		}
		kind, segment := b[0], b[2:2+int(b[1])*size]
		b = b[2+len(segment):]
		o.asn = 0
		if len(segment) == 0 || kind != segmentSequence && kind != segmentConfederations {
			continue
		}
		last := segment[len(segment)-size:]
		if size == 2 {
			o.asn = uint32(binary.BigEndian.Uint16(last))
		} else {
			o.asn = binary.BigEndian.Uint32(last)
		}
	}
	return nil
}

// larges reads the attribute LARGE_COMMUNITY (RFC 8092, section 3).
func larges(b []byte) ([]large, error) {
	if len(b)%12 != 0 {
		return nil, errShort
	}
	list := make([]large, 0, len(b)/12)
	for ; len(b) > 0; b = b[12:] {
		list = append(list, large{binary.BigEndian.Uint32(b),
			binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])})
	}
	return list, nil
}
