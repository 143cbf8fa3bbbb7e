package topology

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
)

// Buffers of a watch: of the kernel's messages, so that a burst is not lost,
// and of what the reader has not taken yet.
const (
	watchBytes  = 1 << 20
	watchEvents = 256
)

// RouteEvent is a change of a route in a host's kernel.
type RouteEvent struct {
	At       time.Time // when the kernel's message was read, with a monotonic reading
	Prefix   netip.Prefix
	NextHops []netip.Addr // the prefix's next hops after it, sorted; none: no route
}

// Watch tells every change of a route with next hops in the host's main table
// until ctx ends. The channel is closed then, or when the kernel's messages
// were lost.
func (h *Host) Watch(ctx context.Context) (<-chan RouteEvent, error) {
	updates := make(chan netlink.RouteUpdate, watchEvents)
	done := make(chan struct{})
	err := netlink.RouteSubscribeWithOptions(updates, done, netlink.RouteSubscribeOptions{
		Namespace: &h.handle,
		// An error ends the stream, which closes updates; the reason adds nothing.
		ErrorCallback:          func(error) {},
		ReceiveBufferSize:      watchBytes,
		ReceiveBufferForceSize: true,
	})
	if err != nil {
		return nil, fmt.Errorf("failed to watch routes of %s: %w", h.ShortName, err)
	}
	context.AfterFunc(ctx, func() { close(done) })
	// Read after the subscription: what changes meanwhile comes again.
	t, err := h.table()
	if err != nil {
		return nil, err
	}
	events := make(chan RouteEvent, watchEvents)
	go relay(ctx, t, updates, events)
	return events, nil
}

// relay turns messages into events. It takes all messages also after ctx has
// ended: the library's reader would wait for ever to hand over its last.
func relay(ctx context.Context, t table, updates <-chan netlink.RouteUpdate, events chan<- RouteEvent) {
	defer close(events)
	for u := range updates {
		at := time.Now()
		prefix, ok := t.apply(u.Type, &u.Route)
		if !ok {
			continue
		}
		select {
		case events <- RouteEvent{At: at, Prefix: prefix, NextHops: t.hops(prefix)}:
		case <-ctx.Done():
		}
	}
}
