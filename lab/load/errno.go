package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// network are the errors by which the kernel says that nobody is there: word of
// ICMP, of its own routes, or of a firewall.
var network = []unix.Errno{unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN,
	unix.ENETDOWN, unix.EPERM, unix.EACCES, unix.ENOPROTOOPT, unix.EPROTO, unix.ECONNRESET, unix.EPIPE,
	unix.ETIMEDOUT, unix.ECONNABORTED}

// failure is a system call's failure: the network's, or else errOwn.
func failure(verb string, errno unix.Errno) error {
	if slices.Contains(network, errno) {
		return fmt.Errorf("failed to %s: %w", verb, errno)
	}
	return fmt.Errorf("%w: failed to %s: %w", errOwn, verb, errno)
}

// own marks an error of package net or crypto/tls as the generator's own, unless
// it is the network's.
func own(err error) error {
	var errno unix.Errno
	if errors.As(err, &errno) && !slices.Contains(network, errno) {
		return fmt.Errorf("%w: %w", errOwn, err)
	}
	return err
}

// swap turns a port between the machine's order and the network's.
func swap(p uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], p)
	return *(*uint16)(unsafe.Pointer(&b[0]))
}

// zone is the interface's number of a link-local address.
func zone(a netip.Addr) uint32 {
	if a.Zone() == "" {
		return 0
	}
	if n, err := strconv.ParseUint(a.Zone(), 10, 32); err == nil {
		return uint32(n)
	}
	link, err := net.InterfaceByName(a.Zone())
	if err != nil {
		return 0
	}
	return uint32(link.Index)
}

// sockaddr is an address as package unix takes it.
func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if ip := a.Addr().Unmap(); ip.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zone(a.Addr())}
}
