package netlinkx

import (
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// closers closes several things as one.
type closers []io.Closer

// Close closes all of them, and joins what went wrong.
func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// lockNames takes every name, or none. A name is an abstract unix socket, which
// lives in the network namespace, leaves no file, and goes with the process
// however that ends.
func lockNames(names []string) (io.Closer, error) {
	var held closers
	for _, name := range names {
		socket := "@recuse/" + name
		l, err := net.Listen("unix", socket)
		if err == nil {
			held = append(held, l)
			continue
		}
		if errors.Is(err, unix.EADDRINUSE) {
			err = &InUseError{Name: name, PID: listenerPID(socket)}
		} else {
			err = fmt.Errorf("failed to listen on socket %s: %w", socket, err)
		}
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// listenerPID returns the process that listens on the socket, or 0 if it cannot
// be told: it has just gone, or lives in another process namespace.
func listenerPID(socket string) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) { // fails only on a closed connection
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}
