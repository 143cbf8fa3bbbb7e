package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Network is where a client's sockets are opened.
type Network struct {
	// Do runs open where the sockets belong, in a network namespace; nil: here.
	// open does not block.
	Do func(open func() error) error
	// Local are the client's source addresses, at most one a family; none: the
	// kernel's choice.
	Local []netip.Addr
}

// do runs open where the sockets belong.
func (n Network) do(open func() error) error {
	if n.Do == nil {
		return open()
	}
	return n.Do(open)
}

// local is the source address towards a server; invalid: the kernel's choice.
func (n Network) local(server netip.Addr) netip.Addr {
	for _, a := range n.Local {
		if a.Unmap().Is4() == server.Unmap().Is4() {
			return a.Unmap()
		}
	}
	return netip.Addr{}
}

// DialUDP opens a UDP socket to a server, from the client's address and a port
// of the kernel's choice. It does not block.
func (n Network) DialUDP(server netip.AddrPort) (net.Conn, error) {
	return n.dial(unix.SOCK_DGRAM, server)
}

// DialTCP opens a TCP connection to a server, from the client's address, and
// waits until it is up or ctx ends.
func (n Network) DialTCP(ctx context.Context, server netip.AddrPort) (net.Conn, error) {
	conn, err := n.dial(unix.SOCK_STREAM, server)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = established(conn)
	if !stop() && err == nil {
		err = context.Cause(ctx) // the deadline is in the past, or will be
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("failed to connect to %s: %w", server, err)
	}
	return conn, nil
}

// dial opens a socket and begins to connect it.
func (n Network) dial(kind int, server netip.AddrPort) (net.Conn, error) {
	target, fd := newAddress(server), -1
	err := n.do(func() (err error) {
		fd, err = open(kind, target.family(), n.local(server.Addr()))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: failed to open socket: %w", errOwn, err)
	}
	if errno := connect(fd, &target); errno != 0 && errno != unix.EINPROGRESS {
		_ = unix.Close(fd)
		return nil, failure("connect", errno)
	}
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("%w: failed to use socket: %w", errOwn, err)
	}
	return conn, nil
}

// established waits until a connection is up, or its deadline.
func established(conn net.Conn) error {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Write(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if n, err := unix.Poll(ready, 0); n == 0 || errors.Is(err, unix.EINTR) {
			return false
		}
		errno, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		switch {
		case err != nil:
			result = err
		case errno != 0:
			result = unix.Errno(errno)
		}
		return true
	})
	return errors.Join(err, result)
}
