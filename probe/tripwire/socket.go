package tripwire

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// groups are the multicast groups of destroyed sockets
// (enum sknetlink_groups of linux/sock_diag.h) as a bit mask.
const groups = 1<<(unix.SKNLGRP_INET_TCP_DESTROY-1) | 1<<(unix.SKNLGRP_INET_UDP_DESTROY-1) |
	1<<(unix.SKNLGRP_INET6_TCP_DESTROY-1) | 1<<(unix.SKNLGRP_INET6_UDP_DESTROY-1)

// messageMost is more than the kernel tells of one socket.
const messageMost = 4096

// errOverrun means that the kernel had more to tell than there was room for.
var errOverrun = errors.New("the kernel's messages overran the socket")

// socket is a netlink socket that hears of destroyed sockets.
type socket struct{ file *os.File }

// listen opens a socket that hears of what the filter lets pass.
func listen(program []unix.SockFilter) (*socket, error) {
	const kind = unix.SOCK_RAW | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	fd, err := unix.Socket(unix.AF_NETLINK, kind, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("failed to ask the kernel for destroyed sockets: %w", explain(err))
	}
	s := &socket{file: os.NewFile(uintptr(fd), "sock_diag")}
	// The filter goes first, or what comes between would pass.
	if err := s.attach(program); err != nil {
		s.close()
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		s.close()
		return nil, fmt.Errorf("failed to listen for destroyed sockets: %w", explain(err))
	}
	return s, nil
}

// explain says what an error means and what there is to do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.EAFNOSUPPORT), errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%w: the kernel lacks socket diagnostics (CONFIG_INET_DIAG, modules inet_diag, tcp_diag and udp_diag)", err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: not permitted here (a seccomp filter or RestrictAddressFamilies= without AF_NETLINK)", err)
	}
	return err
}

// attach puts a filter in the place of the one before.
func (s *socket) attach(program []unix.SockFilter) error {
	return s.control(func(fd int) error {
		prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
		if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &prog); err != nil {
			return fmt.Errorf("failed to filter the kernel's messages: %w", err)
		}
		return nil
	})
}

// control calls f with the descriptor.
func (s *socket) control(f func(fd int) error) error {
	conn, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// read waits for a message and returns its length.
func (s *socket) read(buf []byte) (int, error) {
	n, err := s.file.Read(buf)
	if errors.Is(err, unix.ENOBUFS) {
		return 0, errOverrun
	}
	return n, err
}

// readBy makes waiting reads end at a time; zero: never.
func (s *socket) readBy(t time.Time) error { return s.file.SetReadDeadline(t) }

// close closes the socket.
func (s *socket) close() { _ = s.file.Close() } // It was only read from.
