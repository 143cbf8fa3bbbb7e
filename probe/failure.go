package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// errnos says what the kernel's errors mean, for people. All of them but a
// refusal mean that the probe could not be made.
var errnos = []struct {
	errno syscall.Errno
	text  string
}{
	{syscall.EMFILE, "this process has no file descriptor left (EMFILE)"},
	{syscall.ENFILE, "the system has no file descriptor left (ENFILE)"},
	{syscall.EPERM, "not permitted (EPERM): a local firewall rule or a missing capability"},
	{syscall.EACCES, "not permitted (EACCES): a local firewall rule or a missing capability"},
	{syscall.EADDRNOTAVAIL, "the source address is not on this box (EADDRNOTAVAIL)"},
	{syscall.EADDRINUSE, "no source port is left (EADDRINUSE)"},
	{syscall.EAGAIN, "no source port or buffer is left (EAGAIN)"},
	{syscall.ENOBUFS, "out of buffers (ENOBUFS)"},
	{syscall.ENOMEM, "out of memory (ENOMEM)"},
	{syscall.ENETUNREACH, "no route to the server (ENETUNREACH)"},
	{syscall.EHOSTUNREACH, "no way to the server (EHOSTUNREACH)"},
	{syscall.ENETDOWN, "the network is down (ENETDOWN)"},
	{syscall.EINVAL, "the source address cannot reach the server (EINVAL)"},
}

// Failure says what an error of a socket means for the probe of context ctx:
// the Cause, the Outcome, and whether it is a sign of life. The times are left
// to the caller. It is not known if the error is none that the kernel, a
// deadline or TLS gave; the Cause is then Unmade.
func Failure(ctx context.Context, err error) (res Result, known bool) {
	var fault *HandshakeError
	switch {
	case errors.As(err, &fault):
		return fault.result(), true
	case errors.Is(err, syscall.ECONNREFUSED):
		return Result{Cause: Refused, Outcome: "connection refused"}, true
	case errors.Is(ctx.Err(), context.Canceled):
		return Result{Outcome: "the probe was ended"}, true
	case isTimeout(err):
		return Result{Cause: Silent, Outcome: "timeout"}, true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		// The kernel never ends an accepted connection by itself: somebody is there.
		return Result{Cause: Wrong, Outcome: "connection closed without an answer", Alive: true}, true
	}
	if text, refused := refusedTLS(err); refused {
		return Result{Cause: Wrong, Outcome: text, Alive: true}, true
	}
	for _, e := range errnos {
		if errors.Is(err, e.errno) {
			return Result{Outcome: e.text}, true
		}
	}
	return Result{Outcome: Printable(err.Error(), 200)}, false
}

// AnswerFailure is Failure for an exchange over a protocol of that name. An
// error that is none of the network's is one of the answer, which is Wrong.
func AnswerFailure(ctx context.Context, err error, protocol string) Result {
	res, known := Failure(ctx, err)
	if known {
		return res
	}
	text := err.Error()
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		text = inner.Error() // The innermost says it, without what was asked.
	}
	text = strings.TrimPrefix(text, "net/http: ")
	return Result{Cause: Wrong, Outcome: "no " + protocol + " answer: " + Printable(text, 200), Alive: true}
}

// isTimeout tells whether err came of a deadline, the probe's or the kernel's.
func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &n) && n.Timeout() && !errors.Is(err, syscall.EAGAIN)
}

// Ended returns the result r of a probe that left at sent and ends now.
func (r Result) Ended(sent time.Time) Result {
	r.Sent, r.Done = sent, time.Now()
	return r
}
