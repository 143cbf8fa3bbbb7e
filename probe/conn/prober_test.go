package conn

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// patience is the deadline of probes that are answered; none comes near it.
const patience = 10 * time.Second

// listen opens a listener on a free port of the host.
func listen(t *testing.T, host string) (net.Listener, netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, l.Addr().(*net.TCPAddr).AddrPort()
}

// prober returns the prober of c.
func prober(t *testing.T, c Config) *Prober {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProbe proves a pass, and that the connection is ended at once so that
// nothing is left in the server.
func TestProbe(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		t.Run(host, func(t *testing.T) {
			l, at := listen(t, host)
			resulttest.Want(t, prober(t, Config{Address: at}).Probe(resulttest.Within(t, patience)), probe.Passed, "connected", true)
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || err.Error() != "EOF" {
				t.Errorf("the server reads %d bytes, error %v", n, err)
			}
		})
	}
}

// TestProbeMapped proves that an IPv4 address in an IPv6 one is the same port.
func TestProbeMapped(t *testing.T) {
	_, at := listen(t, "127.0.0.1")
	at = netip.AddrPortFrom(netip.MustParseAddr("::ffff:127.0.0.1"), at.Port())
	resulttest.Want(t, prober(t, Config{Address: at}).Probe(resulttest.Within(t, patience)), probe.Passed, "connected", true)
}

// TestProbeSource proves that the connection comes from the address that is
// set, and that one which is not there says nothing of the server.
func TestProbeSource(t *testing.T) {
	l, at := listen(t, "127.0.0.1")
	c := Config{Address: at, Local: netip.MustParseAddr("127.0.0.7")}
	resulttest.Want(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Passed, "connected", true)
	got, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if from := got.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(); from != c.Local {
		t.Errorf("connected from %v", from)
	}
	c.Local = netip.MustParseAddr("192.0.2.77")
	resulttest.Want(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Unmade,
		"the source address is not on this box (EADDRNOTAVAIL)", false)
}

// TestProbeRefused proves that a port without a listener is told at once.
func TestProbeRefused(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		// The ports below 1024 are left out of what the kernel hands out.
		c := Config{Address: netip.AddrPortFrom(netip.MustParseAddr(host), 1)}
		got := prober(t, c).Probe(resulttest.Within(t, patience))
		resulttest.Want(t, got, probe.Refused, "connection refused", false)
		if got.RTT() > patience/2 {
			t.Errorf("a refusal took %v", got.RTT())
		}
	}
}

// full returns a port whose listener accepts nothing and has room for no more.
func full(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(name.(*unix.SockaddrInet4).Port))
	// A backlog of zero still holds one connection.
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return at
}

// TestProbeSilent proves that a listener whose queue is full is a timeout by
// the deadline.
func TestProbeSilent(t *testing.T) {
	const brief = 200 * time.Millisecond
	got := prober(t, Config{Address: full(t)}).Probe(resulttest.Within(t, brief))
	resulttest.Want(t, got, probe.Silent, "timeout", false)
	if got.RTT() < brief*9/10 {
		t.Errorf("waited for %v of %v", got.RTT(), brief)
	}
}

// TestProbeEnded proves that a probe ends with its context and shows nothing.
func TestProbeEnded(t *testing.T) {
	p := prober(t, Config{Address: full(t)})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	results := make(chan probe.Result, 1)
	go func() { results <- p.Probe(ctx) }()
	cancel()
	got := <-results
	resulttest.Want(t, got, probe.Unmade, "the probe was ended", false)
	if got.RTT() > patience/2 {
		t.Errorf("the end took %v", got.RTT())
	}
}

// TestNewErrors proves that a port that cannot be connected to is refused.
func TestNewErrors(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"none", Config{}, `address: "invalid AddrPort" is not an address with a port`},
		{"no port", Config{Address: netip.MustParseAddrPort("127.0.0.1:0")}, `address: "127.0.0.1:0" is not an address with a port`},
		{"family", Config{Address: netip.MustParseAddrPort("127.0.0.1:1"), Local: netip.IPv6Loopback()},
			"source ::1 and address 127.0.0.1:1 are not of one address family"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.config); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
