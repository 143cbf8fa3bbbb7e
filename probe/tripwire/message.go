package tripwire

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// destroyed is one socket that the kernel tells of.
type destroyed struct {
	local  netip.AddrPort
	remote uint16 // the port on the other side; 0: none
}

// parse reads a message, ok unless it is of another kind or cut.
func parse(raw []byte) (d destroyed, ok bool) {
	if len(raw) < leastLen {
		return destroyed{}, false
	}
	addr := netip.AddrFrom16([16]byte(raw[sourceAt : sourceAt+16]))
	switch raw[familyAt] {
	case unix.AF_INET:
		addr = netip.AddrFrom4([4]byte(raw[sourceAt : sourceAt+4]))
	case unix.AF_INET6:
	default:
		return destroyed{}, false
	}
	port := binary.BigEndian.Uint16(raw[localAt:])
	return destroyed{
		local:  netip.AddrPortFrom(addr.Unmap(), port),
		remote: binary.BigEndian.Uint16(raw[remoteAt:]),
	}, true
}

// serves tells whether the socket may have answered at the address: it was
// bound to that or to none. One of IPv6 bound to none may serve IPv4 as well.
func (d destroyed) serves(server netip.AddrPort) bool {
	if d.remote != 0 || d.local.Port() != server.Port() {
		return false
	}
	bound := d.local.Addr()
	return bound == server.Addr() || bound.IsUnspecified() && (bound.Is6() || server.Addr().Is4())
}
