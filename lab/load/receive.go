package load

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pollMost is the longest wait in the kernel: Go's scheduler does not know of it,
// and its garbage collector may wait for the end.
const pollMost = time.Millisecond

// poll waits for sockets to become readable, at most so long. It does so behind
// the back of Go's scheduler, which would give the thread's processor away, and
// have it wait for another afterwards that a thread may hold which does not run.
func (s *sockets) poll(d time.Duration) int {
	// epoll_pwait2 (Linux 5.11) counts in nanoseconds where the others count in
	// milliseconds.
	timeout := unix.NsecToTimespec(int64(min(max(d, 0), pollMost)))
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(s.epoll), uintptr(unsafe.Pointer(&s.events[0])),
		uintptr(len(s.events)), uintptr(unsafe.Pointer(&timeout)), 0, 0)
	if errno != 0 {
		return 0 // EINTR
	}
	return int(n)
}

// canWait refuses a kernel that has no epoll_pwait2.
func (s *sockets) canWait() error {
	var now unix.Timespec
	_, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(s.epoll), uintptr(unsafe.Pointer(&s.events[0])), 1,
		uintptr(unsafe.Pointer(&now)), 0, 0)
	if errno == unix.ENOSYS {
		return fmt.Errorf("failed to wait for sockets: needs Linux 5.11 or later: %w", errno)
	}
	return nil
}

// reads is how many messages are read of a kept socket before others have their
// turn.
const reads = 32

// receive reads a socket that is readable.
func (s *sockets) receive(i int32, into []event) []event {
	k := &s.all[i]
	for range reads {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(k.fd), uintptr(unsafe.Pointer(&s.buf[0])),
			uintptr(len(s.buf)), 0, 0, 0)
		switch errno {
		case 0:
			into = s.message(k, s.buf[:n], into)
		case unix.EAGAIN, unix.EINTR:
			return into
		default:
			return s.refusal(k, errno, into)
		}
		if k.kept == nil {
			return into
		}
	}
	return into
}

// message takes one datagram.
func (s *sockets) message(k *socket, m []byte, into []event) []event {
	if len(m) < headerSize {
		return into
	}
	a := k.talk
	if k.kept != nil {
		a = k.kept[binary.BigEndian.Uint16(m)]
	}
	if e, ok := answerEvent(s.mix, a, m, s.names, time.Since(s.start)); ok {
		into = append(into, e)
	}
	return into
}

// answerEvent is the event of an answer, if the message is the answer to what
// was asked.
func answerEvent(mix []template, a asking, m []byte, n *names, at time.Duration) (event, bool) {
	if a.generation == 0 || !mix[a.entry].answeredBy(m, a.id, a.random) {
		return event{}, false
	}
	r := parse(m)
	return event{place: a.place, state: answered, at: at, rcode: uint16(r.rcode), truncated: r.truncated,
		node: n.of(r.node)}, true
}

// refusal takes an error that the kernel had word of by ICMP. It does not say
// which question of several it was, and nobody listens for any of them.
func (s *sockets) refusal(k *socket, errno unix.Errno, into []event) []event {
	e := event{place: k.talk.place, state: refused, at: time.Since(s.start), err: s.names.of([]byte(failure("receive", errno).Error()))}
	if k.kept == nil {
		return append(into, e)
	}
	for _, a := range k.kept {
		e.place = a.place
		into = append(into, e)
	}
	return into
}
