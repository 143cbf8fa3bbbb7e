package bgp

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// Attribute types (RFC 4760).
const (
	attrReach   = 14
	attrUnreach = 15
)

// extendedLength is the attribute flag for a length of two bytes.
const extendedLength = 0x10

// errShort says that a length points beyond its message.
var errShort = errors.New("cut short")

// reading is what an UPDATE says of IPv4 and IPv6 unicast prefixes.
type reading struct {
	announced, withdrawn []netip.Prefix
}

// readUpdate reads the prefixes of a whole UPDATE, whatever its attributes.
// After an error the reading is what came before it.
func readUpdate(msg []byte) (reading, error) {
	var r reading
	if len(msg) < headerLen || msg[18] != typeUpdate {
		return r, errShort
	}
	withdrawn, rest, err := counted(msg[headerLen:])
	if err != nil {
		return r, err
	}
	attrs, nlri, err := counted(rest)
	if err != nil {
		return r, err
	}
	if r.withdrawn, err = prefixes(withdrawn, false); err != nil {
		return r, err
	}
	for len(attrs) > 0 {
		if attrs, err = r.attribute(attrs); err != nil {
			return r, err
		}
	}
	plain, err := prefixes(nlri, false)
	r.announced = append(r.announced, plain...)
	return r, err
}

// counted splits b after a length of two bytes and what it counts.
func counted(b []byte) (value, rest []byte, err error) {
	if len(b) < 2 {
		return nil, nil, errShort
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b) < 2+n {
		return nil, nil, errShort
	}
	return b[2 : 2+n], b[2+n:], nil
}

// attribute reads the first attribute of b and returns the rest.
func (r *reading) attribute(b []byte) ([]byte, error) {
	if len(b) < 3 {
		return nil, errShort
	}
	start, n := 3, int(b[2])
	if b[0]&extendedLength != 0 {
		if len(b) < 4 {
			return nil, errShort
		}
		start, n = 4, int(binary.BigEndian.Uint16(b[2:]))
	}
	if len(b) < start+n {
		return nil, errShort
	}
	value, rest := b[start:start+n], b[start+n:]
	switch b[1] {
	case attrReach:
		return rest, r.reach(value)
	case attrUnreach:
		return rest, r.unreach(value)
	}
	return rest, nil
}

// reach reads MP_REACH_NLRI: family, next hop, a reserved byte, prefixes.
func (r *reading) reach(b []byte) error {
	inet6, ok, err := family(b)
	if err != nil || !ok {
		return err
	}
	if len(b) < 4 || len(b) < 5+int(b[3]) {
		return errShort
	}
	list, err := prefixes(b[5+int(b[3]):], inet6)
	r.announced = append(r.announced, list...)
	return err
}

// unreach reads MP_UNREACH_NLRI: family, prefixes.
func (r *reading) unreach(b []byte) error {
	inet6, ok, err := family(b)
	if err != nil || !ok {
		return err
	}
	list, err := prefixes(b[3:], inet6)
	r.withdrawn = append(r.withdrawn, list...)
	return err
}

// family reads an address family; ok says that it is IPv4 or IPv6 unicast.
func family(b []byte) (inet6, ok bool, err error) {
	if len(b) < 3 {
		return false, false, errShort
	}
	afi := binary.BigEndian.Uint16(b)
	return afi == 2, (afi == 1 || afi == 2) && b[2] == 1, nil
}

// prefixes reads a list of prefixes, each a length in bits and as many bytes
// as these take.
func prefixes(b []byte, inet6 bool) ([]netip.Prefix, error) {
	var list []netip.Prefix
	size := 4
	if inet6 {
		size = 16
	}
	for len(b) > 0 {
		bits := int(b[0])
		n := (bits + 7) / 8
		if n > size || len(b) < 1+n || bits > size*8 {
			return list, errShort
		}
		raw := make([]byte, size)
		copy(raw, b[1:1+n])
		addr, _ := netip.AddrFromSlice(raw)
		list = append(list, netip.PrefixFrom(addr, bits).Masked())
		b = b[1+n:]
	}
	return list, nil
}
