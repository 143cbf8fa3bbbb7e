package bfd

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// rcvbuf holds about 1,400 packets: a second of 256 sessions at 300 ms and
	// more. The kernel may give less.
	rcvbuf = 1 << 20

	// drainMax bounds what one drain handles, so that a flood of packets cannot
	// keep a detection time from ending. It is above what rcvbuf can hold.
	drainMax = 4096
)

// A listener receives on one port of one family, for all sessions there.
type listener struct {
	endpoint
	deliver func(*datagram)
	file    *os.File
	conn    syscall.RawConn
	done    chan struct{} // closed when run has returned

	// mu is held from the taking of a packet out of the socket to the end of
	// its handling: whoever holds it knows that no packet is in between.
	mu      sync.Mutex
	closed  bool
	payload [512]byte
	control [256]byte
}

// The options of the listening sockets: what the kernel is to tell with each
// packet.
var (
	listenV4 = []sockopt{
		{unix.IPPROTO_IP, unix.IP_RECVTTL, 1},
		{unix.IPPROTO_IP, unix.IP_PKTINFO, 1},
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1},
	}
	listenV6 = []sockopt{
		{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1},
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1},
	}
)

// listen binds an endpoint's port on all addresses and begins to receive. If
// another process has the port, the error names it where permitted.
func listen(at endpoint, deliver func(*datagram)) (*listener, error) {
	options, addr := listenV4, unix.Sockaddr(&unix.SockaddrInet4{Port: at.port()})
	if at.v6 {
		options, addr = listenV6, &unix.SockaddrInet6{Port: at.port()}
	}
	fd, err := newSocket(at.v6, options)
	if err != nil {
		return nil, err
	}
	growBuffer(fd)
	if err := unix.Bind(fd, addr); err != nil {
		unix.Close(fd)
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, &PortError{Port: at.port(), Holder: portHolder(at), err: err}
		}
		return nil, fmt.Errorf("failed to listen on UDP port %d: %w", at.port(), err)
	}
	l := &listener{
		endpoint: at, deliver: deliver,
		file: os.NewFile(uintptr(fd), fmt.Sprintf("udp:%d", at.port())),
		done: make(chan struct{}),
	}
	if l.conn, err = l.file.SyscallConn(); err != nil {
		l.file.Close()
		return nil, fmt.Errorf("failed to listen on UDP port %d: %w", at.port(), err)
	}
	go l.run()
	return l, nil
}

// growBuffer makes the receive buffer large, beyond the system's limit if
// this process may, and is content with less.
func growBuffer(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, rcvbuf) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, rcvbuf)
	}
}

// run handles packets as they come, until the socket is closed.
func (l *listener) run() {
	defer close(l.done)
	// The function given to Read says each time that it needs more, so that
	// Read waits for the next packet and returns only at the end.
	l.conn.Read(func(fd uintptr) bool {
		for l.one(int(fd)) {
		}
		return false
	})
}

// drain handles what waits in the socket. It does not go through Read, which
// run occupies.
func (l *listener) drain() {
	l.conn.Control(func(fd uintptr) {
		for range drainMax {
			if !l.one(int(fd)) {
				return
			}
		}
	})
}

// one takes one packet and has it handled. It reports false if there is none.
// The mutex is let go after each packet, so that a drain gets its turn.
func (l *listener) one(fd int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	n, cn, _, from, err := unix.Recvmsg(fd, l.payload[:], l.control[:], unix.MSG_DONTWAIT)
	if err != nil {
		return errors.Is(err, unix.EINTR)
	}
	d := datagram{payload: l.payload[:n], from: address(from), ttl: -1, multihop: l.multihop}
	d.at = time.Now()
	d.readControl(l.control[:cn])
	l.deliver(&d)
	return true
}

// close ends the reception and waits for what is being handled.
func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.file.Close()
	<-l.done
}

// address returns the address in sa, without a zone.
func address(sa unix.Sockaddr) netip.Addr {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(a.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr)
	}
	return netip.Addr{}
}
