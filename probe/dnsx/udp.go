package dnsx

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"recuse/probe"
)

// answerMax is the largest answer that is read over UDP; the query asks for
// less (ednsSize).
const answerMax = 4096

// overUDP sends the query from a new socket and waits for the answer.
//
// The socket is not connected: a connected one hears of a refused port, but
// the kernel would drop an answer from another address unseen, and that is how
// a resolver bound to the wildcard fails on a service address. IP_RECVERR makes
// the kernel report a refusal to an unconnected socket too.
//
// After a timeout the socket stays open for an answer that comes late.
func overUDP(ctx context.Context, q query) (finding, probe.Late) {
	sent := time.Now()
	conn, err := listenUDP(ctx, q.Server.Addr.Addr(), q.Local)
	if err != nil {
		return fromError(ctx, err), nil
	}
	f := askUDP(ctx, q, conn)
	if f.cause != probe.Silent {
		conn.Close()
		return f, nil
	}
	return f, func(ctx context.Context) string {
		defer conn.Close()
		defer expire(ctx, conn)()
		return tooLate(awaitUDP(ctx, q, conn), sent)
	}
}

// askUDP sends the query from conn and waits for the answer.
func askUDP(ctx context.Context, q query, conn *net.UDPConn) finding {
	defer expire(ctx, conn)()
	if _, err := conn.WriteToUDPAddrPort(q.wire, q.Server.Addr); err != nil {
		return fromError(ctx, err)
	}
	return awaitUDP(ctx, q, conn)
}

// awaitUDP reads until something answers the query.
func awaitUDP(ctx context.Context, q query, conn *net.UDPConn) finding {
	buf := make([]byte, answerMax)
	for ignored := 0; ; ignored++ {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return withIgnored(fromError(ctx, err), ignored)
		}
		if f, ok := q.read(buf[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port())); ok {
			return f
		}
	}
}

// withIgnored adds to a timeout how many packets came that were no answers.
func withIgnored(f finding, n int) finding {
	if f.cause == probe.Silent && n > 0 {
		f.text = fmt.Sprintf("%s; ignored %d packets that did not match", f.text, n)
	}
	return f
}

// listenUDP opens a socket of the server's family on a port that the kernel
// picks at random.
func listenUDP(ctx context.Context, server, local netip.Addr) (*net.UDPConn, error) {
	family, level, option := "udp4", unix.IPPROTO_IP, unix.IP_RECVERR
	any := netip.IPv4Unspecified()
	if server.Is6() {
		family, level, option = "udp6", unix.IPPROTO_IPV6, unix.IPV6_RECVERR
		any = netip.IPv6Unspecified()
	}
	if local.IsValid() {
		any = local
	}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return setOption(c, level, option)
	}}
	pc, err := lc.ListenPacket(ctx, family, netip.AddrPortFrom(any, 0).String())
	if err != nil {
		return nil, fmt.Errorf("failed to open a socket: %w", err)
	}
	return pc.(*net.UDPConn), nil
}

// setOption sets a socket option to 1.
func setOption(c syscall.RawConn, level, option int) error {
	var failed error
	if err := c.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), level, option, 1) }); err != nil {
		return err
	}
	return failed
}
