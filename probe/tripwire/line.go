package tripwire

import (
	"context"
	"io"
	"net"
	"net/netip"
	"time"
)

const (
	// dialMost is how long a connection may take to come about.
	dialMost = 5 * time.Second
	// steadyAfter is how long a connection lasts that a server means to keep.
	// Servers close idle ones after some time, and that is no trouble.
	steadyAfter = 5 * time.Second
	// waitLeast and waitMost bound the wait before the next connection.
	waitLeast = time.Second
	waitMost  = 10 * time.Second
)

// Line keeps one idle TCP connection to a server, whose end trips. It works
// across network namespaces, but some servers have a process for each connection
// (dnsmasq), and one that closes idle ones trips it each time.
type Line struct {
	dial func(ctx context.Context) (net.Conn, error)
}

// NewLine returns a line to a server. It is not yet connected.
func NewLine(server netip.AddrPort) *Line {
	d := net.Dialer{Timeout: dialMost}
	d.SetMultipathTCP(false)
	return &Line{dial: func(ctx context.Context) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", server.String())
	}}
}

// Run keeps the line until ctx is done, and then returns nil. It calls trip when
// a connection ends, but not when there is none to be had.
func (l *Line) Run(ctx context.Context, trip func()) error {
	wait := waitLeast
	for ctx.Err() == nil {
		began := time.Now()
		if l.hold(ctx) && ctx.Err() == nil {
			trip()
		}
		if time.Since(began) >= dialMost+steadyAfter {
			wait = waitLeast
		}
		if !pause(ctx, wait) {
			return nil
		}
		wait = min(2*wait, waitMost)
	}
	return nil
}

// hold connects and waits for the end of the connection. It returns false if
// there was none.
func (l *Line) hold(ctx context.Context) bool {
	conn, err := l.dial(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	// A server has nothing to say that was not asked for; whatever it says does
	// not matter. The error is the end, of whatever kind.
	_, _ = io.Copy(io.Discard, conn)
	return true
}
