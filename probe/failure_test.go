package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFailure proves what each error of a socket means for the probe.
func TestFailure(t *testing.T) {
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
		want Result
	}{
		{"refused", running, socket(syscall.ECONNREFUSED), Result{Cause: Refused, Outcome: "connection refused"}},
		{"refused, and out of time", expired, socket(syscall.ECONNREFUSED), Result{Cause: Refused, Outcome: "connection refused"}},
		{"deadline", expired, &net.OpError{Err: os.ErrDeadlineExceeded}, Result{Cause: Silent, Outcome: "timeout"}},
		{"deadline of dialling", expired, context.DeadlineExceeded, Result{Cause: Silent, Outcome: "timeout"}},
		{"the kernel's timeout", running, socket(syscall.ETIMEDOUT), Result{Cause: Silent, Outcome: "timeout"}},
		{"ended", cancelled, &net.OpError{Err: os.ErrDeadlineExceeded}, Result{Outcome: "the probe was ended"}},
		{"end of file", running, io.EOF, Result{Cause: Wrong, Outcome: "connection closed without an answer", Alive: true}},
		{"cut", running, io.ErrUnexpectedEOF, Result{Cause: Wrong, Outcome: "connection closed without an answer", Alive: true}},
		{"reset", running, socket(syscall.ECONNRESET), Result{Cause: Wrong, Outcome: "connection closed without an answer", Alive: true}},
		{"pipe", running, socket(syscall.EPIPE), Result{Cause: Wrong, Outcome: "connection closed without an answer", Alive: true}},
		{"no file descriptor", running, socket(syscall.EMFILE), Result{Outcome: "this process has no file descriptor left (EMFILE)"}},
		{"none in the system", running, socket(syscall.ENFILE), Result{Outcome: "the system has no file descriptor left (ENFILE)"}},
		{"firewall", running, socket(syscall.EPERM), Result{Outcome: "not permitted (EPERM): a local firewall rule or a missing capability"}},
		{"permission", running, socket(syscall.EACCES), Result{Outcome: "not permitted (EACCES): a local firewall rule or a missing capability"}},
		{"no source", running, socket(syscall.EADDRNOTAVAIL), Result{Outcome: "the source address is not on this box (EADDRNOTAVAIL)"}},
		{"no port", running, socket(syscall.EADDRINUSE), Result{Outcome: "no source port is left (EADDRINUSE)"}},
		{"nothing left", running, socket(syscall.EAGAIN), Result{Outcome: "no source port or buffer is left (EAGAIN)"}},
		{"no buffers", running, socket(syscall.ENOBUFS), Result{Outcome: "out of buffers (ENOBUFS)"}},
		{"no memory", running, socket(syscall.ENOMEM), Result{Outcome: "out of memory (ENOMEM)"}},
		{"no route", running, socket(syscall.ENETUNREACH), Result{Outcome: "no route to the server (ENETUNREACH)"}},
		{"no way", running, socket(syscall.EHOSTUNREACH), Result{Outcome: "no way to the server (EHOSTUNREACH)"}},
		{"wrapped", running, fmt.Errorf("failed to open a socket: %w", socket(syscall.EMFILE)),
			Result{Outcome: "this process has no file descriptor left (EMFILE)"}},
		{"TLS ended by the server", running, &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")},
			Result{Cause: Wrong, Outcome: "TLS refused by the server: certificate required", Alive: true}},
		{"no TLS", running, tls.RecordHeaderError{Msg: "odd"},
			Result{Cause: Wrong, Outcome: "the server does not speak TLS", Alive: true}},
		{"certificate", expired, fmt.Errorf("get: %w", &HandshakeError{cause: Wrong, text: "bad", expires: time.Unix(9, 0)}),
			Result{Cause: Wrong, Outcome: "bad", Alive: true, Expires: time.Unix(9, 0)}},
		{"anything else", running, errors.New("something else"), Result{Outcome: "something else"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, known := Failure(tt.ctx, tt.err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected result (-want +got):\n%s", diff)
			}
			if known != (tt.name != "anything else") {
				t.Errorf("known is %v", known)
			}
		})
	}
}
