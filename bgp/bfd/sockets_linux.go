package bfd

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// dscpCS6 is the traffic class of network control, as the byte of the header.
const dscpCS6 = 0xc0

// sockets is the transport on the sockets of the kernel.
type sockets struct {
	deliver func(*datagram)

	mu        sync.Mutex
	listeners map[endpoint]*listener
	ports     map[int]bool // source ports in use (RFC 5881, section 4)
}

// newSockets returns a transport that has no socket yet.
func newSockets(deliver func(*datagram)) *sockets {
	return &sockets{
		deliver:   deliver,
		listeners: make(map[endpoint]*listener),
		ports:     make(map[int]bool),
	}
}

// open makes the listener that a session like c needs, unless it is there
// already, and returns the session's link, whose socket is made when the
// first packet leaves.
func (s *sockets) open(c *Config) (link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := endpoint{v6: c.Peer.Is6(), multihop: c.Multihop}
	l := s.listeners[at]
	if l == nil {
		var err error
		if l, err = listen(at, s.deliver); err != nil {
			return nil, err
		}
		s.listeners[at] = l
	}
	return &sender{sockets: s, listener: l, conf: *c, fd: -1}, nil
}

// close closes all listeners and waits until none delivers any more. It does
// so without the mutex, which what they deliver may need.
func (s *sockets) close() {
	s.mu.Lock()
	all := s.listeners
	s.listeners = make(map[endpoint]*listener)
	s.mu.Unlock()
	for _, l := range all {
		l.close()
	}
}

// reserve takes a source port for one session alone. It reports false if
// another session has it.
func (s *sockets) reserve(port int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ports[port] {
		return false
	}
	s.ports[port] = true
	return true
}

// release gives a source port back.
func (s *sockets) release(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ports, port)
}

// A sockopt is one integer option of a socket.
type sockopt struct {
	level, name, value int
}

// newSocket returns a UDP socket that does not block, with those options.
func newSocket(v6 bool, options []sockopt) (int, error) {
	family := unix.AF_INET
	if v6 {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("failed to make a UDP socket: %w", err)
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("failed to set socket option %d/%d: %w", o.level, o.name, err)
		}
	}
	return fd, nil
}
