package tripwire

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// trialMost is how long a trial waits for the kernel. It takes microseconds, but
// longer if a module must be loaded first.
const trialMost = 3 * time.Second

// trial destroys a UDP and a TCP socket of its own and waits for the kernel to
// tell of each. A kernel whose module for either is missing takes everything
// else without a word, and would then never tell of anything; and where the
// module can be loaded, this is what loads it.
func trial() error {
	for _, kind := range []struct {
		name     string
		socket   int
		modprobe string
	}{{"UDP", unix.SOCK_DGRAM, "udp_diag"}, {"TCP", unix.SOCK_STREAM, "tcp_diag"}} {
		if err := trialOf(kind.socket); err != nil {
			return fmt.Errorf("failed to hear from the kernel of a destroyed %s socket: %w (is the module %s missing?)",
				kind.name, err, kind.modprobe)
		}
	}
	return nil
}

// trialOf makes a trial with a socket of a kind.
func trialOf(kind int) error {
	fd, port, err := boundSocket(kind)
	if err != nil {
		return err
	}
	program, err := filter([]uint16{port})
	if err != nil {
		unix.Close(fd)
		return err
	}
	s, err := listen(program)
	unix.Close(fd)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.readBy(time.Now().Add(trialMost)); err != nil {
		return err
	}
	_, err = s.read(make([]byte, messageMost))
	if isTimeout(err) {
		return fmt.Errorf("no word within %v", trialMost)
	}
	return err
}

// boundSocket opens a socket on a free port. It is bound and no more: nobody can
// reach it, but the kernel tells of its end.
func boundSocket(kind int) (fd int, port uint16, err error) {
	fd, err = unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{}); err == nil {
		var addr unix.Sockaddr
		if addr, err = unix.Getsockname(fd); err == nil {
			return fd, uint16(addr.(*unix.SockaddrInet4).Port), nil
		}
	}
	unix.Close(fd)
	return 0, 0, err
}
