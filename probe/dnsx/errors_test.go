package dnsx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/probe"
)

// TestFromError proves what each error of a socket means for the probe.
func TestFromError(t *testing.T) {
	running := t.Context()
	cancelled, cancel := context.WithCancel(running)
	cancel()
	expired, cancel := context.WithDeadline(running, time.Unix(1, 0))
	defer cancel()
	socket := func(err error) error {
		return &net.OpError{Op: "read", Net: "udp", Err: os.NewSyscallError("recvfrom", err)}
	}
	tests := []struct {
		name string
		ctx  context.Context
		err  error
		want finding
	}{
		{"refused", running, socket(unix.ECONNREFUSED), finding{probe.Refused, "connection refused", false}},
		{"refused, and out of time", expired, socket(unix.ECONNREFUSED), finding{probe.Refused, "connection refused", false}},
		{"deadline", expired, &net.OpError{Err: os.ErrDeadlineExceeded}, finding{probe.Silent, "timeout", false}},
		{"deadline of dialling", expired, context.DeadlineExceeded, finding{probe.Silent, "timeout", false}},
		{"the kernel's timeout", running, socket(unix.ETIMEDOUT), finding{probe.Silent, "timeout", false}},
		{"ended", cancelled, &net.OpError{Err: os.ErrDeadlineExceeded}, unmade("the probe was ended")},
		{"end of file", running, io.EOF, wrong("connection closed without an answer")},
		{"cut", running, io.ErrUnexpectedEOF, wrong("connection closed without an answer")},
		{"reset", running, socket(unix.ECONNRESET), wrong("connection closed without an answer")},
		{"pipe", running, socket(unix.EPIPE), wrong("connection closed without an answer")},
		{"no file descriptor", running, socket(unix.EMFILE), unmade("this process has no file descriptor left (EMFILE)")},
		{"none in the system", running, socket(unix.ENFILE), unmade("the system has no file descriptor left (ENFILE)")},
		{"firewall", running, socket(unix.EPERM), unmade("not permitted (EPERM): a local firewall rule or a missing capability")},
		{"permission", running, socket(unix.EACCES), unmade("not permitted (EACCES): a local firewall rule or a missing capability")},
		{"no source", running, socket(unix.EADDRNOTAVAIL), unmade("the source address is not on this box (EADDRNOTAVAIL)")},
		{"no port", running, socket(unix.EADDRINUSE), unmade("no source port is left (EADDRINUSE)")},
		{"nothing left", running, socket(unix.EAGAIN), unmade("no source port or buffer is left (EAGAIN)")},
		{"no buffers", running, socket(unix.ENOBUFS), unmade("out of buffers (ENOBUFS)")},
		{"no memory", running, socket(unix.ENOMEM), unmade("out of memory (ENOMEM)")},
		{"no route", running, socket(unix.ENETUNREACH), unmade("no route to the server (ENETUNREACH)")},
		{"no way", running, socket(unix.EHOSTUNREACH), unmade("no way to the server (EHOSTUNREACH)")},
		{"wrapped", running, fmt.Errorf("failed to open a socket: %w", socket(unix.EMFILE)),
			unmade("this process has no file descriptor left (EMFILE)")},
		{"anything else", running, errors.New("something else"), unmade("something else")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fromError(tt.ctx, tt.err); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
