package tripwire

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// apart is the least time between two trips.
const apart = 200 * time.Millisecond

// Wire trips when a socket is destroyed that may have been one of its servers'.
type Wire struct {
	servers []netip.AddrPort
	socket  *socket
	wakes   atomic.Int64 // how often the kernel woke the reader
}

// Open lays a wire at servers of this network namespace. An error means that
// the kernel cannot be listened to; nothing is left then but to poll.
func Open(servers ...netip.AddrPort) (*Wire, error) {
	w := &Wire{}
	var ports []uint16
	for _, s := range servers {
		w.servers = append(w.servers, netip.AddrPortFrom(s.Addr().Unmap(), s.Port()))
		ports = append(ports, s.Port())
	}
	program, err := filter(ports)
	if err != nil {
		return nil, err
	}
	if w.socket, err = listen(program); err != nil {
		return nil, err
	}
	if err := trial(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close takes the wire in. A Run under way returns.
func (w *Wire) Close() { w.socket.close() }

// Run calls trip for what the kernel tells until ctx is done: at once, but not
// twice within 200 ms. It then closes the wire and returns nil, or an error if
// the kernel cannot be listened to any more.
func (w *Wire) Run(ctx context.Context, trip func()) error {
	defer w.Close()
	defer context.AfterFunc(ctx, w.Close)()
	buf := make([]byte, messageMost)
	for {
		tripped, err := w.next(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("failed to read what the kernel tells of destroyed sockets: %w", err)
		case !tripped:
			continue
		}
		trip()
		// What is told meanwhile waits in the socket and trips afterwards.
		if !pause(ctx, apart) {
			return nil
		}
	}
}

// next waits for one message, or an overrun, and tells whether it trips.
func (w *Wire) next(buf []byte) (bool, error) {
	n, err := w.socket.read(buf)
	w.wakes.Add(1)
	if errors.Is(err, errOverrun) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	d, ok := parse(buf[:n])
	return ok && slices.ContainsFunc(w.servers, d.serves), nil
}

// pause waits for d and returns true, or false if ctx is done sooner.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isTimeout tells whether a read ended because of its deadline.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
