package dnsx

import (
	"context"
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"recuse/probe"
)

// causes says what the kernel's errors mean, for people. All of them but a
// refusal mean that the probe could not be made.
var causes = []struct {
	errno unix.Errno
	text  string
}{
	{unix.EMFILE, "this process has no file descriptor left (EMFILE)"},
	{unix.ENFILE, "the system has no file descriptor left (ENFILE)"},
	{unix.EPERM, "not permitted (EPERM): a local firewall rule or a missing capability"},
	{unix.EACCES, "not permitted (EACCES): a local firewall rule or a missing capability"},
	{unix.EADDRNOTAVAIL, "the source address is not on this box (EADDRNOTAVAIL)"},
	{unix.EADDRINUSE, "no source port is left (EADDRINUSE)"},
	{unix.EAGAIN, "no source port or buffer is left (EAGAIN)"},
	{unix.ENOBUFS, "out of buffers (ENOBUFS)"},
	{unix.ENOMEM, "out of memory (ENOMEM)"},
	{unix.ENETUNREACH, "no route to the server (ENETUNREACH)"},
	{unix.EHOSTUNREACH, "no way to the server (EHOSTUNREACH)"},
	{unix.ENETDOWN, "the network is down (ENETDOWN)"},
	{unix.EINVAL, "the source address cannot reach the server (EINVAL)"},
}

// fromError says what an error of a socket means for the probe.
func fromError(ctx context.Context, err error) finding {
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return finding{cause: probe.Refused, text: "connection refused"}
	case errors.Is(ctx.Err(), context.Canceled):
		return unmade("the probe was ended")
	case isTimeout(err):
		return finding{cause: probe.Silent, text: "timeout"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		// The kernel never ends an accepted connection by itself: somebody is there.
		return wrong("connection closed without an answer")
	}
	for _, c := range causes {
		if errors.Is(err, c.errno) {
			return unmade(c.text)
		}
	}
	return unmade(err.Error())
}

// isTimeout tells whether err came of a deadline, the probe's or the kernel's.
func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout() && !errors.Is(err, unix.EAGAIN)
}
