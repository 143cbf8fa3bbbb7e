package load

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/lab/load/stub"
)

// TestDrops shows that the kernel tells of datagrams that found no room.
func TestDrops(t *testing.T) {
	fd, err := open(unix.SOCK_DGRAM, 0, netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	to := newAddress(netip.MustParseAddrPort("127.0.0.1:53"))
	if errno := connect(fd, &to); errno != 0 {
		t.Fatal(errno)
	}
	if n := drops(fd); n != 0 || port(fd) == 0 {
		t.Fatalf("port %d, %d dropped before anything came", port(fd), n)
	}
	if !disconnect(fd) || port(fd) != 0 {
		t.Fatalf("port %d after it was given back", port(fd))
	}
	if errno := connect(fd, &to); errno != 0 {
		t.Fatal(errno)
	}
	peer, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port(fd))})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	// The socket hears only its server; so its server is changed to the peer.
	at := newAddress(peer.LocalAddr().(*net.UDPAddr).AddrPort())
	if errno := connect(fd, &at); errno != 0 {
		t.Fatal(errno)
	}
	for range 20_000 {
		if _, err := peer.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if drops(fd) == 0 {
		t.Error("none dropped of 20,000 that nobody read")
	}
}

// TestDial shows the two ways to a server that a network has of its own.
func TestDial(t *testing.T) {
	s := serve(t, well("n1"))
	here := Network{Local: []netip.Addr{netip.MustParseAddr("127.0.0.9")}}
	udp, err := here.DialUDP(s.plain)
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	tcp, err := here.DialTCP(t.Context(), s.plain)
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	for _, conn := range []net.Conn{udp, tcp} {
		if host, _, err := net.SplitHostPort(conn.LocalAddr().String()); err != nil || host != "127.0.0.9" {
			t.Errorf("local address %s, want 127.0.0.9", conn.LocalAddr())
		}
		if conn.RemoteAddr() == nil || conn.RemoteAddr().String() != s.plain.String() {
			t.Errorf("remote address %v, want %s", conn.RemoteAddr(), s.plain)
		}
	}
	if _, err := here.DialTCP(t.Context(), nobody(t)); err == nil {
		t.Error("a connection to nobody is up")
	}
}

// TestDialIsGivenUp shows that a connection that does not come up is given up
// with its context: the server's queue of connections is full.
func TestDialIsGivenUp(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, sockaddr(netip.MustParseAddrPort("127.0.0.1:0"))), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	full := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port(fd))
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		conn, err := Network{}.DialTCP(ctx, full)
		cancel()
		if err != nil {
			got := ask(t, Config{Servers: one(full), Transport: TCP, Stub: stub.None(100 * time.Millisecond)})
			if got.Outcome != Timeout {
				t.Errorf("record %+v, want a timeout", got)
			}
			return
		}
		defer conn.Close()
	}
	t.Error("ten connections are up that nobody accepts")
}
