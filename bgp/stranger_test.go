package bgp

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// turnedAway fails unless the other side closes a connection from one loopback
// address to another without a word of BGP.
func turnedAway(t *testing.T, from netip.Addr, to netip.AddrPort) {
	t.Helper()
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), Timeout: 5 * time.Second}
	c, err := d.Dial("tcp", to.String())
	if err != nil {
		t.Fatalf("failed to connect: %v", err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := c.Read(make([]byte, 1))
	if n != 0 || !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("a stranger at %s got %d bytes, %v", from, n, err)
	}
}

// Whoever else is on the box or reaches the port gets no session, and does not
// touch the one that is there.
func TestStrangers(t *testing.T) {
	router := newRawRouter(t, "127.53.4.1")
	free, err := net.Listen("tcp", "127.53.4.2:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := free.Addr().(*net.TCPAddr).AddrPort()
	_ = free.Close()
	c := rawConfig(router.peer(65000))
	c.Listen = listen
	s := startSpeaker(t, c)
	conn := router.accept()
	conn.establish(65000)
	s.established(0)
	before := s.state(0)
	p := s.peers[0]
	core := p.core.at
	turnedAway(t, netip.MustParseAddr("127.0.0.1"), listen)        // no peer of ours
	turnedAway(t, router.addr, listen)                             // the router again, beside its session
	turnedAway(t, netip.MustParseAddr("127.0.0.1"), core)          // straight to GoBGP
	turnedAway(t, p.session().link.addr, core)                     // the same in the session's clothes
	turnedAway(t, netip.AddrFrom4([4]byte{127, 77, 0, 1}), listen) // anybody
	if after := s.state(0); after.State != before.State || !after.Since.Equal(before.Since) {
		t.Errorf("strangers touched the session: %+v, was %+v", after, before)
	}
	conn.quiet(50 * time.Millisecond)
}
