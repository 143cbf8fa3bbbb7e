package dnsx

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// portTries is how many ports are tried: one that is free on one address, or for
// one protocol, may be somebody's on another.
const portTries = 20

// onePort opens a UDP socket on every host, all on one port that is free.
func onePort(t *testing.T, hosts ...string) []*net.UDPConn {
	t.Helper()
	var err error
	for range portTries {
		var conns []*net.UDPConn
		if conns, err = openAll(hosts); err == nil {
			t.Cleanup(func() { closeAll(conns) })
			return conns
		}
	}
	t.Fatal(err)
	return nil
}

// openAll is one try of onePort.
func openAll(hosts []string) ([]*net.UDPConn, error) {
	var conns []*net.UDPConn
	port := uint16(0)
	for _, h := range hosts {
		at := netip.AddrPortFrom(netip.MustParseAddr(h), port)
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		if err != nil {
			closeAll(conns)
			return nil, err
		}
		conns, port = append(conns, conn), addrOf(conn).Port()
	}
	return conns, nil
}

// closeAll closes sockets.
func closeAll(conns []*net.UDPConn) {
	for _, c := range conns {
		_ = c.Close()
	}
}

// bothPorts opens a loopback port that is free for UDP and TCP. The listener is
// its server's to close.
func bothPorts(t *testing.T) (*net.UDPConn, net.Listener) {
	t.Helper()
	var errs []error
	for range portTries {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", addrOf(conn).String())
		if err == nil {
			t.Cleanup(func() { _ = conn.Close() })
			return conn, l
		}
		errs = append(errs, err, conn.Close())
	}
	t.Fatal(errors.Join(errs...))
	return nil, nil
}
