package cable

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timer is an alarm made of a timerfd(2). The runtime's own timers are rounded
// up to a millisecond when the process is idle (epoll_wait's unit).
type timer struct {
	file *os.File
	conn syscall.RawConn
	spec unix.ItimerSpec
	arm  func(fd uintptr) // sets the timer to spec; made once, since it is called for every frame
	buf  [8]byte
}

// newTimer makes an alarm that is not set.
func newTimer() (*timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("failed to make timer: %w", err)
	}
	t := &timer{file: os.NewFile(uintptr(fd), "timerfd")}
	if t.conn, err = t.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to use timer: %w", err), t.file.Close())
	}
	// A setting with valid values cannot fail.
	t.arm = func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &t.spec, nil) }
	return t, nil
}

// set lets it ring after d, or at once. One goroutine may call it at a time. A
// timer that is closed rings no more, and nobody waits for it.
func (t *timer) set(d time.Duration) {
	t.spec.Value = unix.NsecToTimespec(int64(max(d, 1)))
	_ = t.conn.Control(t.arm)
}

// wait waits until it rings.
func (t *timer) wait() error {
	_, err := t.file.Read(t.buf[:])
	return err
}

// close ends the timer and whoever waits for it.
func (t *timer) close() error { return t.file.Close() }
