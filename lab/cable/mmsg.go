package cable

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is what recvmmsg(2) and sendmmsg(2) take: a message and, on return,
// its length.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
}

// messages are as many messages as one call takes, each of one buffer.
type messages struct {
	hdr [batch]mmsghdr
	iov [batch]unix.Iovec
}

// point makes message i the buffer, with room for control data.
func (m *messages) point(i int, data, control []byte) {
	m.iov[i].Base = unsafe.SliceData(data)
	m.iov[i].SetLen(len(data))
	h := &m.hdr[i].hdr
	h.Iov = &m.iov[i]
	h.SetIovlen(1)
	h.Control = unsafe.SliceData(control)
	h.SetControllen(len(control))
	h.Flags = 0
}

// receive reads up to the first n messages without waiting, and says how many.
func (m *messages) receive(fd uintptr, n int) (int, error) {
	return m.call(unix.SYS_RECVMMSG, fd, 0, n)
}

// send sends the messages from first up to n without waiting, and says how many
// were taken. The error is that of the first one that was not, if it was the
// first of all.
func (m *messages) send(fd uintptr, first, n int) (int, error) {
	return m.call(unix.SYS_SENDMMSG, fd, first, n)
}

// call makes the system call again as often as a signal interrupts it.
func (m *messages) call(trap, fd uintptr, first, n int) (int, error) {
	for {
		r, _, errno := unix.Syscall6(trap, fd, uintptr(unsafe.Pointer(&m.hdr[first])), uintptr(n-first),
			unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
