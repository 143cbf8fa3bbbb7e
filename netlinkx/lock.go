package netlinkx

import (
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// lockName takes a name. It is an abstract unix socket, which lives in the
// network namespace, leaves no file, and goes with the process however that
// ends.
func lockName(name string) (io.Closer, error) {
	socket := "@recuse/" + name
	l, err := net.Listen("unix", socket)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, unix.EADDRINUSE):
		return nil, &InUseError{Name: name, PID: listenerPID(socket)}
	}
	return nil, fmt.Errorf("failed to listen on socket %s: %w", socket, err)
}

// locks are the names that a Holder has, each with what gives it up; nil while
// it has none.
type locks map[string]io.Closer

// take takes all the names that are not held yet, or none of them.
func (l locks) take(k Kernel, names []string) error {
	var taken []string
	for _, name := range names {
		if l[name] != nil {
			continue
		}
		lock, err := k.Lock(name)
		if err != nil {
			return errors.Join(err, l.release(taken))
		}
		l[name] = lock
		taken = append(taken, name)
	}
	return nil
}

// release gives up the names that are held.
func (l locks) release(names []string) error {
	var errs []error
	for _, name := range names {
		if l[name] != nil {
			errs = append(errs, l[name].Close())
			delete(l, name)
		}
	}
	return errors.Join(errs...)
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
