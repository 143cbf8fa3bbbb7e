package load

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// source is where a client's UDP sockets come from. Those that are free are used
// again, each time with a new port: connecting to nobody (AF_UNSPEC) gives the
// port back, and connecting again takes another of the kernel's choice. That is
// cheaper than a new socket, which may also have to be made in another network
// namespace.
type source struct {
	network Network
	client  int32
	free    [2][]int32 // by address.family
	made    [2]int
	kept    []int32 // UDPOnePort: the socket to each server, plus one
}

// take is a socket that has no port.
func (s *sockets) take(src *source, family uint8) (int32, error) {
	if len(src.free[family]) == 0 {
		if err := s.make(src, family); err != nil {
			return 0, err
		}
	}
	n := len(src.free[family]) - 1
	i := src.free[family][n]
	src.free[family] = src.free[family][:n]
	return i, nil
}

// Sockets are made a few at a time: as many as there are already, within these.
const (
	makeLeast = 4
	makeMost  = 64
)

// make makes sockets where the client's belong.
func (s *sockets) make(src *source, family uint8) error {
	local := src.network.local(families[family])
	var fds []int
	err := src.network.do(func() error {
		for range min(max(src.made[family], makeLeast), makeMost) {
			fd, err := open(unix.SOCK_DGRAM, family, local)
			if err != nil {
				return err
			}
			fds = append(fds, fd)
		}
		return nil
	})
	for _, fd := range fds {
		i := s.number()
		s.all[i] = socket{fd: fd, client: src.client, family: family}
		if err := s.watch(fd, i); err != nil {
			return fmt.Errorf("%w: %w", errOwn, err)
		}
		src.free[family] = append(src.free[family], i)
		src.made[family]++
	}
	if len(fds) == 0 {
		return fmt.Errorf("%w: failed to open socket: %w", errOwn, err)
	}
	return nil
}

// number is a free place in all.
func (s *sockets) number() int32 {
	if n := len(s.unused); n > 0 {
		i := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return i
	}
	s.all = append(s.all, socket{fd: -1})
	return int32(len(s.all) - 1)
}

// give takes a socket back. One that may still hear something of its last
// question is closed.
func (s *sockets) give(i int32, clean bool) {
	k := &s.all[i]
	if !clean || !disconnect(k.fd) {
		s.discard(i)
		return
	}
	k.talk = asking{}
	src := s.sources[k.client]
	src.free[k.family] = append(src.free[k.family], i)
}

// discard closes a socket.
func (s *sockets) discard(i int32) {
	k := &s.all[i]
	_ = unix.Close(k.fd)
	s.sources[k.client].made[k.family]--
	*k = socket{fd: -1}
	s.unused = append(s.unused, i)
}

// families are an address of each family, by address.family.
var families = [2]netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}

// open opens a socket without a port (SOCK_DGRAM or SOCK_STREAM), bound to a
// local address if there is one.
func open(kind int, family uint8, local netip.Addr) (int, error) {
	domain := unix.AF_INET
	if family == 1 {
		domain = unix.AF_INET6
	}
	fd, err := unix.Socket(domain, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if local.IsValid() {
		// Only the address: a port bound here would stay with the socket.
		err = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		if err == nil {
			err = unix.Bind(fd, sockaddr(netip.AddrPortFrom(local, 0)))
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// address is a server's address as the kernel takes it.
type address struct {
	raw  unix.RawSockaddrInet6 // large enough for both
	size uintptr
}

// newAddress spells an address for the kernel.
func newAddress(a netip.AddrPort) address {
	var out address
	if ip := a.Addr().Unmap(); ip.Is4() {
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(&out.raw))
		in.Family, in.Addr, in.Port = unix.AF_INET, ip.As4(), swap(a.Port())
		out.size = unix.SizeofSockaddrInet4
		return out
	}
	out.raw.Family, out.raw.Addr, out.raw.Port = unix.AF_INET6, a.Addr().As16(), swap(a.Port())
	out.raw.Scope_id = zone(a.Addr())
	out.size = unix.SizeofSockaddrInet6
	return out
}

// family is 0 for IPv4 and 1 for IPv6.
func (a *address) family() uint8 {
	if a.size == unix.SizeofSockaddrInet4 {
		return 0
	}
	return 1
}

// connect connects a UDP socket, which takes a port.
func connect(fd int, to *address) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to.raw)), to.size)
	return errno
}

// disconnect gives a UDP socket's port back.
func disconnect(fd int) bool {
	nobody := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&nobody)), unsafe.Sizeof(nobody))
	return errno == 0
}

// port is a socket's local port; 0 if it has none.
func port(fd int) uint16 {
	var a unix.RawSockaddrInet6
	size := uint32(unsafe.Sizeof(a))
	_, _, errno := unix.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return 0
	}
	return swap(a.Port) // at the same place for both families
}

// enlarge gives a socket that carries many questions room for their answers.
func enlarge(fd int) {
	const room = 16 << 20
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, room) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, room)
	}
}

// drops is how many datagrams the kernel dropped for want of room (or with a bad
// checksum) since the socket was made; 0 if it does not say.
func drops(fd int) uint32 {
	var info [9]uint32 // SK_MEMINFO_VARS of linux/sock_diag.h; the last is SK_MEMINFO_DROPS
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return info[8]
}

// randomID is a message's number.
func randomID() uint16 { return uint16(rand.Uint32()) }
