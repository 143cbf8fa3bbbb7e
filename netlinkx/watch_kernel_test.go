package netlinkx_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

// awaken fails the test unless a wake-up comes, and returns when it came.
func awaken(t *testing.T, what string, wake <-chan struct{}) time.Time {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: no wake-up within 10 s", what)
	}
	return time.Now()
}

// calm takes wake-ups until none has come for 50 ms: the kernel announces some
// of its own doings later.
func calm(wake <-chan struct{}) {
	for {
		select {
		case <-wake:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// TestWatch states which changes by an operator wake the agent up.
func TestWatch(t *testing.T) {
	b := newBox(t)
	kind := netlinktest.Kind(t)
	must(t, b.Raise())
	wake, err := netlinkx.Watch(t.Context())
	must(t, err)
	changes := []struct {
		name string
		do   func()
	}{
		{"link down", b.SetDown},
		{"link up", b.SetUp},
		{"IPv4 address deleted", func() { b.DeleteAddress(v4) }},
		{"IPv4 address added", func() { b.AddAddress(v4) }},
		{"IPv6 address added", func() { b.AddAddress(v6) }},
		{"IPv6 address deleted", func() { b.DeleteAddress(v6) }},
		{"link deleted", b.DeleteLink},
		{"link added", func() { b.AddLink(kind, "") }},
	}
	for _, c := range changes {
		calm(wake)
		c.do()
		awaken(t, c.name, wake)
	}
}

// TestWatchLatency reports how long after `ip link set LINK down` has returned
// the wake-up is there.
func TestWatchLatency(t *testing.T) {
	b := newBox(t)
	wake, err := netlinkx.Watch(t.Context())
	must(t, err)
	var waits []time.Duration
	for range 20 {
		must(t, b.Raise())
		calm(wake)
		start := time.Now()
		b.SetDown()
		waits = append(waits, awaken(t, "link down", wake).Sub(start))
	}
	slices.Sort(waits)
	t.Logf("link set down to wake-up, command included: median %v, worst %v", waits[10], waits[19])
}

// TestWatchEnds counts goroutines: the watch leaves none behind.
func TestWatchEnds(t *testing.T) {
	b := newBox(t)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	wake, err := netlinkx.Watch(ctx)
	must(t, err)
	must(t, b.Ensure())
	awaken(t, "link made", wake)
	cancel()
	eventually(t, "end the watch", func() bool { return runtime.NumGoroutine() <= before })
	calm(wake)
	must(t, b.Raise())
	select {
	case <-wake:
		t.Error("got a wake-up after the end")
	case <-time.After(20 * time.Millisecond):
	}
}

// noting is a socket that notes the errors it gives.
type noting struct {
	*nl.NetlinkSocket
	errs chan error
}

// Receive notes what went wrong.
func (n noting) Receive() ([]syscall.NetlinkMessage, *unix.SockaddrNetlink, error) {
	msgs, from, err := n.NetlinkSocket.Receive()
	if err != nil {
		select {
		case n.errs <- err:
		default:
		}
	}
	return msgs, from, err
}

// TestWatchOverrun lets the kernel overrun a small socket: the watch wakes up,
// and later changes wake it again.
func TestWatchOverrun(t *testing.T) {
	b := newBox(t)
	must(t, b.Raise())
	socket, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK)
	must(t, err)
	must(t, socket.SetReceiveBufferSize(1, false)) // the kernel makes it its least
	link, err := netlink.LinkByName("anycast0")
	must(t, err)
	for i := range 50 {
		must(t, netlink.LinkSetAlias(link, fmt.Sprint(i)))
	}

	ctx, cancel := context.WithCancel(context.Background())
	n, wake := noting{socket, make(chan error, 1)}, make(chan struct{}, 1)
	done := make(chan struct{})
	go func() { netlinkx.Listen(ctx, n, wake); close(done) }()
	awaken(t, "overrun", wake)
	if err := <-n.errs; err != unix.ENOBUFS {
		t.Errorf("got error %v, want an overrun", err)
	}
	calm(wake)
	b.SetDown()
	awaken(t, "link down after the overrun", wake)
	cancel()
	socket.Close()
	<-done
}

// TestConnected puts service addresses and the box's own side by side.
func TestConnected(t *testing.T) {
	b := newBox(t)
	must(t, b.Raise())
	own := []netlinkx.Config{configOf("")}
	got, err := netlinkx.Connected(configOf("").Addresses, own)
	if err != nil || len(got) != 0 {
		t.Errorf("on its own link: got %v, %v, want no conflict", got, err)
	}
	got, err = netlinkx.Connected(configOf("").Addresses, nil)
	if err != nil || len(got) != 2 || got[0].Link != "anycast0" || got[0].Subnet != v4 || got[1].Subnet != v6 {
		t.Errorf("on another's link: got %v, %v, want both addresses", got, err)
	}

	lo, err := netlink.LinkByName("lo")
	must(t, err)
	subnet, err := netlink.ParseAddr("192.0.2.1/26")
	must(t, err)
	must(t, netlink.AddrAdd(lo, subnet))
	got, err = netlinkx.Connected(configOf("").Addresses, own)
	if err != nil || len(got) != 1 || got[0].Subnet.String() != "192.0.2.0/26" || got[0].Link != "lo" {
		t.Errorf("in a subnet of lo: got %v, %v, want that", got, err)
	}
}
