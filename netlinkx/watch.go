package netlinkx

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// watchPause keeps a socket that fails without end from taking a processor.
const watchPause = 10 * time.Millisecond

// receiver is what the watch needs of a subscribed netlink socket.
type receiver interface {
	Receive() ([]syscall.NetlinkMessage, *unix.SockaddrNetlink, error)
	Close()
}

// Watch tells when something about links or addresses has changed in the
// network namespace of the calling thread: look again. Changes that come before
// the last wake-up has been taken are one. It ends with ctx; the channel is
// never closed, so that a select over it stays quiet from then on. It fails if
// the kernel gives no subscription.
func Watch(ctx context.Context) (<-chan struct{}, error) {
	s, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK,
		unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV6_IFADDR)
	if err != nil {
		return nil, fmt.Errorf("failed to subscribe to changes of links and addresses: %w", err)
	}
	wake := make(chan struct{}, 1)
	go func() {
		defer s.Close()
		defer context.AfterFunc(ctx, s.Close)()
		listen(ctx, s, wake)
	}()
	return wake, nil
}

// listen turns what s receives into wake-ups until ctx ends. Any failure is a
// wake-up too: most of all an overrun (ENOBUFS), after which the kernel goes on
// delivering, but what was lost is not known.
func listen(ctx context.Context, s receiver, wake chan<- struct{}) {
	for {
		_, _, err := s.Receive()
		if ctx.Err() != nil {
			return // the socket was closed for that
		}
		select {
		case wake <- struct{}{}:
		default: // one is waiting already
		}
		if err != nil && !errors.Is(err, unix.ENOBUFS) {
			select {
			case <-ctx.Done():
			case <-time.After(watchPause):
			}
		}
	}
}
