package bfd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// The range of source ports that RFC 5881, section 4, demands.
const (
	firstSourcePort = 49152
	lastSourcePort  = 65535
)

// queuePriority is the highest that needs no privilege; pfifo_fast sends it
// before ordinary packets.
const queuePriority = 6

// A sender is the link of a session on the kernel's sockets: a connected
// socket of its own to send with, and a share in a listener. It makes its
// socket when it needs one, and anew after an error, so that it gets over
// interfaces and addresses that come and go.
//
// A connected socket is told when the peer refuses the port: the best sign
// that there is no BFD.
type sender struct {
	sockets  *sockets
	listener *listener
	conf     Config // only what never changes is looked at

	fd      int        // -1: none
	port    int        // the source port; zero before the first socket
	source  netip.Addr // the local address while there is a socket
	ifindex int        // of conf.Interface when the socket was made
}

// send sends one packet.
func (s *sender) send(b []byte) error {
	if s.fd < 0 {
		if err := s.open(); err != nil {
			return err
		}
	}
	_, err := unix.Write(s.fd, b)
	if errors.Is(err, unix.ECONNREFUSED) {
		// That is the answer to an earlier packet; this one has not left yet.
		if _, err = unix.Write(s.fd, b); err == nil {
			return fmt.Errorf("failed to send to %v: %w", s.conf.Peer, errRefused)
		}
	}
	if err == nil {
		return nil
	}
	if !passing(err) {
		s.closeSocket()
	}
	return fmt.Errorf("failed to send to %v: %w", s.conf.Peer, err)
}

// passing reports whether an error of write says nothing against the socket:
// a refusal, a firewall of our own, a full queue.
func passing(err error) bool {
	for _, e := range []error{unix.ECONNREFUSED, unix.EPERM, unix.EAGAIN, unix.ENOBUFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// open makes the socket, bound and connected.
func (s *sender) open() error {
	s.ifindex = 0
	if s.conf.Interface != "" {
		i, err := net.InterfaceByName(s.conf.Interface)
		if err != nil {
			return fmt.Errorf("failed to find interface %s: %w", s.conf.Interface, err)
		}
		s.ifindex = i.Index
	}
	options := sendV4
	if s.conf.Peer.Is6() {
		options = sendV6
	}
	fd, err := newSocket(s.conf.Peer.Is6(), options)
	if err != nil {
		return err
	}
	if err := s.connect(fd); err != nil {
		unix.Close(fd)
		return err
	}
	s.fd = fd
	if sa, err := unix.Getsockname(fd); err == nil {
		s.source = address(sa)
	}
	return nil
}

// The options of the sending sockets: TTL 255, with which RFC 5881 proves that
// no router was in between, the class of network control in the header, and
// the same for our own queues. The last must follow IP_TOS, which resets it.
var (
	sendV4 = []sockopt{
		{unix.IPPROTO_IP, unix.IP_TTL, 255},
		{unix.IPPROTO_IP, unix.IP_TOS, dscpCS6},
		{unix.SOL_SOCKET, unix.SO_PRIORITY, queuePriority},
	}
	sendV6 = []sockopt{
		{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, 255},
		{unix.IPPROTO_IPV6, unix.IPV6_TCLASS, dscpCS6},
		{unix.SOL_SOCKET, unix.SO_PRIORITY, queuePriority},
	}
)

// connect binds fd to the interface, the local address and the source port,
// and connects it to the peer.
func (s *sender) connect(fd int) error {
	if s.conf.Interface != "" {
		if err := unix.BindToDevice(fd, s.conf.Interface); err != nil {
			return fmt.Errorf("failed to bind to interface %s: %w", s.conf.Interface, err)
		}
	}
	if err := s.bind(fd); err != nil {
		return err
	}
	if err := unix.Connect(fd, s.sockaddr(s.conf.Peer, s.listener.port())); err != nil {
		return fmt.Errorf("failed to reach %v: %w", s.conf.Peer, err)
	}
	return nil
}

// bind gives fd the source port that the session has had, else a random one
// that neither another session nor another socket has.
func (s *sender) bind(fd int) error {
	local := s.conf.Local
	if !local.IsValid() {
		local = netip.IPv4Unspecified()
		if s.conf.Peer.Is6() {
			local = netip.IPv6Unspecified()
		}
	}
	const tries = 64
	for range tries {
		if s.port == 0 {
			p := firstSourcePort + rand.IntN(lastSourcePort-firstSourcePort+1)
			if !s.sockets.reserve(p) {
				continue
			}
			s.port = p
		}
		err := unix.Bind(fd, s.sockaddr(local, s.port))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return fmt.Errorf("failed to bind to local address %v: %w", local, err)
		}
		s.releasePort()
	}
	return fmt.Errorf("failed to find a free source port in %d to %d in %d tries",
		firstSourcePort, lastSourcePort, tries)
}

// sockaddr returns an address and a port in the kernel's form.
func (s *sender) sockaddr(a netip.Addr, port int) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4(), Port: port}
	}
	sa := &unix.SockaddrInet6{Addr: a.As16(), Port: port}
	if a.IsLinkLocalUnicast() {
		sa.ZoneId = uint32(s.ifindex)
	}
	return sa
}

// matches reports whether a packet came to the session's local address over
// the session's interface, as far as it has them.
func (s *sender) matches(d *datagram) bool {
	if s.conf.Local.IsValid() && s.conf.Local != d.to {
		return false
	}
	return s.conf.Interface == "" || s.ifindex == d.ifindex
}

// local returns the address that packets leave from.
func (s *sender) local() netip.Addr {
	if s.source.IsValid() {
		return s.source
	}
	return s.conf.Local
}

// drain handles what waits in the listener that the session shares.
func (s *sender) drain() { s.listener.drain() }

// close gives up the socket and the source port.
func (s *sender) close() {
	s.closeSocket()
	s.releasePort()
}

// closeSocket gives up the socket alone.
func (s *sender) closeSocket() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd, s.source = -1, netip.Addr{}
	}
}

// releasePort gives up the source port.
func (s *sender) releasePort() {
	if s.port != 0 {
		s.sockets.release(s.port)
		s.port = 0
	}
}
