package bgp

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// Attribute types (RFC 4271, 4760, 6793, 8092).
const (
	attrASPath  = 2
	attrReach   = 14
	attrUnreach = 15
	attrAS4Path = 17
	attrLarge   = 32
)

// extendedLength is the attribute flag for a length of two bytes.
const extendedLength = 0x10

// errShort says that a length points beyond its message.
var errShort = errors.New("cut short")

// dialect is how two OPENs agreed to write UPDATEs.
type dialect struct {
	narrow           bool // AS numbers of two bytes (RFC 6793)
	pathID4, pathID6 bool // each prefix after an identifier (RFC 7911)
}

// nlri is a prefix with the identifier that tells its paths apart, 0 without.
type nlri struct {
	netip.Prefix
	id uint32
}

// reading is what an UPDATE says of IPv4 and IPv6 unicast prefixes.
type reading struct {
	announced, withdrawn []nlri
	origin               originAS // of the announced ones
	larges               []large  // of the announced ones
	end4, end6           bool     // End-of-RIB (RFC 4724, section 2)
}

// read reads a whole UPDATE as far as it concerns us; other attributes are
// passed over. After an error the reading is what came before it.
func (d dialect) read(msg []byte) (reading, error) {
	var r reading
	if len(msg) < headerLen || msg[18] != typeUpdate {
		return r, errShort
	}
	withdrawn, rest, err := counted(msg[headerLen:])
	if err != nil {
		return r, err
	}
	attrs, plain, err := counted(rest)
	if err != nil {
		return r, err
	}
	r.end4 = len(msg) == headerLen+4
	if r.withdrawn, err = prefixes(withdrawn, false, d.pathID4); err != nil {
		return r, err
	}
	for len(attrs) > 0 {
		if attrs, err = r.attribute(attrs, d); err != nil {
			return r, err
		}
	}
	list, err := prefixes(plain, false, d.pathID4)
	r.announced = append(r.announced, list...)
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
func (r *reading) attribute(b []byte, d dialect) ([]byte, error) {
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
	var err error
	switch b[1] {
	case attrReach:
		err = r.reach(value, d)
	case attrUnreach:
		err = r.unreach(value, d)
	case attrASPath:
		err = r.origin.path(value, d.narrow)
	case attrAS4Path:
		err = r.origin.path4(value)
	case attrLarge:
		r.larges, err = larges(value)
	}
	return rest, err
}

// reach reads MP_REACH_NLRI: family, next hop, a reserved byte, prefixes.
func (r *reading) reach(b []byte, d dialect) error {
	inet6, ok, err := family(b)
	if err != nil || !ok {
		return err
	}
	if len(b) < 4 || len(b) < 5+int(b[3]) {
		return errShort
	}
	list, err := prefixes(b[5+int(b[3]):], inet6, d.pathID(inet6))
	r.announced = append(r.announced, list...)
	return err
}

// unreach reads MP_UNREACH_NLRI: family, prefixes. None is End-of-RIB.
func (r *reading) unreach(b []byte, d dialect) error {
	inet6, ok, err := family(b)
	if err != nil || !ok {
		return err
	}
	if len(b) == 3 {
		r.end4, r.end6 = r.end4 || !inet6, r.end6 || inet6
	}
	list, err := prefixes(b[3:], inet6, d.pathID(inet6))
	r.withdrawn = append(r.withdrawn, list...)
	return err
}

// pathID reports whether the prefixes of a family have identifiers.
func (d dialect) pathID(inet6 bool) bool { return inet6 && d.pathID6 || !inet6 && d.pathID4 }

// family reads an address family; ok says that it is IPv4 or IPv6 unicast.
func family(b []byte) (inet6, ok bool, err error) {
	if len(b) < 3 {
		return false, false, errShort
	}
	afi := binary.BigEndian.Uint16(b)
	return afi == 2, (afi == 1 || afi == 2) && b[2] == 1, nil
}

// prefixes reads a list of prefixes, each a length in bits and as many bytes
// as these take, with four bytes of identifier before it if pathID.
func prefixes(b []byte, inet6, pathID bool) ([]nlri, error) {
	var list []nlri
	size := 4
	if inet6 {
		size = 16
	}
	for len(b) > 0 {
		var one nlri
		if pathID {
			if len(b) < 5 {
				return list, errShort
			}
			one.id, b = binary.BigEndian.Uint32(b), b[4:]
		}
		bits := int(b[0])
		n := (bits + 7) / 8
		if n > size || len(b) < 1+n || bits > size*8 {
			return list, errShort
		}
		raw := make([]byte, size)
		copy(raw, b[1:1+n])
		addr, _ := netip.AddrFromSlice(raw)
		one.Prefix = netip.PrefixFrom(addr, bits).Masked()
		list = append(list, one)
		b = b[1+n:]
	}
	return list, nil
}
