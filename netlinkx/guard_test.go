package netlinkx_test

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

var (
	clientAddress = netip.MustParseAddr("2001:db8:c::7")
	nodeAddress   = netip.MustParseAddr("2001:db8:a::2")
	routerAddress = netip.MustParseAddr("2001:db8:a::1")
)

// TestNoLoop sends a client's packet to the service address through a node that
// forwards, and looks at what leaves towards the router. Without the
// unreachable route that is the packet itself, which the router would send back.
func TestNoLoop(t *testing.T) {
	const looped = "the packet itself"
	const unreachable, portClosed = "unreachable: no route", "unreachable: port"
	tests := []struct {
		name string
		do   func(b *netlinktest.Box) error
		want string
	}{
		{"never ensured", func(b *netlinktest.Box) error { return nil }, looped},
		{"ensured", (*netlinktest.Box).Ensure, unreachable},
		{"raised", (*netlinktest.Box).Raise, portClosed},
		{"lowered", func(b *netlinktest.Box) error { return errors.Join(b.Raise(), b.Lower()) }, unreachable},
		{"link deleted", func(b *netlinktest.Box) error { err := b.Raise(); b.DeleteLink(); return err }, unreachable},
		{"removed", func(b *netlinktest.Box) error { return errors.Join(b.Raise(), b.Remove()) }, looped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t)
			sysctl(t, "net.ipv6.conf.all.forwarding", "1")
			uplink := addUplink(t)
			must(t, tt.do(b))

			out := packetSocket(t, uplink, unix.ETH_P_ALL)
			inject(t, query())
			if got := firstReply(t, out); got != tt.want {
				t.Errorf("towards the router went %q, want %q", got, tt.want)
			}
		})
	}
}

// addUplink makes a link towards a router that has the default route, and
// returns its index.
func addUplink(t *testing.T) int {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "uplink0"
	link := &netlink.GenericLink{LinkAttrs: attrs, LinkType: netlinktest.Kind(t)}
	must(t, netlink.LinkAdd(link))
	must(t, netlink.LinkSetUp(link))
	must(t, netlink.AddrAdd(link, &netlink.Addr{Flags: unix.IFA_F_NODAD,
		IPNet: &net.IPNet{IP: nodeAddress.AsSlice(), Mask: net.CIDRMask(64, 128)}}))
	all := &net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
	must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: all, Gw: routerAddress.AsSlice()}))
	return link.Attrs().Index
}

// packetSocket returns a socket of what passes the link, closed with the test.
func packetSocket(t *testing.T, index int, protocol uint16) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		netlinktest.Missing(t, "packet sockets", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	must(t, unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}))
	must(t, unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index, Protocol: bigEndian(protocol)}))
	return fd
}

// bigEndian returns v in network byte order, as the kernel wants it in memory.
func bigEndian(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

// inject makes the box receive the packet, on lo.
func inject(t *testing.T, packet []byte) {
	t.Helper()
	lo, err := netlink.LinkByName("lo")
	must(t, err)
	fd := packetSocket(t, lo.Attrs().Index, unix.ETH_P_IPV6)
	must(t, unix.Sendto(fd, packet, 0, &unix.SockaddrLinklayer{Ifindex: lo.Attrs().Index,
		Protocol: bigEndian(unix.ETH_P_IPV6), Halen: 6}))
}

// query returns an IPv6 packet with an empty UDP datagram (RFC 8200, RFC 768)
// from the client to port 53 of the service address.
func query() []byte {
	udp := binary.BigEndian.AppendUint16(nil, 40053)
	udp = binary.BigEndian.AppendUint16(udp, 53)
	udp = binary.BigEndian.AppendUint16(udp, 8) // length
	pseudo := append(clientAddress.AsSlice(), v6.Addr().AsSlice()...)
	pseudo = append(pseudo, 0, 0, 0, 8, 0, 0, 0, unix.IPPROTO_UDP)
	udp = binary.BigEndian.AppendUint16(udp, checksum(append(pseudo, udp...)))
	packet := []byte{0x60, 0, 0, 0, 0, 8, unix.IPPROTO_UDP, 64}
	packet = append(packet, clientAddress.AsSlice()...)
	packet = append(packet, v6.Addr().AsSlice()...)
	return append(packet, udp...)
}

// checksum is the internet checksum (RFC 1071) of an even number of bytes.
func checksum(b []byte) uint16 {
	sum := uint32(0)
	for ; len(b) > 0; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// firstReply names the first packet on the socket that belongs to the test:
// one to the service address, or an ICMPv6 error (RFC 4443, 3.1) to the client.
func firstReply(t *testing.T, fd int) string {
	t.Helper()
	buf := make([]byte, 2048)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return "nothing: " + err.Error()
		}
		p := buf[:n]
		if n < 48 || p[0]>>4 != 6 {
			continue
		}
		dst := netip.AddrFrom16([16]byte(p[24:40]))
		switch {
		case dst == v6.Addr():
			return "the packet itself"
		case dst == clientAddress && p[6] == unix.IPPROTO_ICMPV6 && p[40] == 1 && p[41] == 0:
			return "unreachable: no route"
		case dst == clientAddress && p[6] == unix.IPPROTO_ICMPV6 && p[40] == 1 && p[41] == 4:
			return "unreachable: port"
		}
	}
}

// TestGuardRoute looks at the route as the kernel shows it.
func TestGuardRoute(t *testing.T) {
	b := newBox(t)
	must(t, b.Ensure())
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V6)
	must(t, err)
	for _, r := range routes {
		if r.Type != unix.RTN_UNREACHABLE {
			continue
		}
		if r.Dst.String() != v6.String() || uint32(r.Priority) != ^uint32(0) || r.Protocol != netlinkx.GuardProtocol {
			t.Errorf("unexpected route %v", r)
		}
		return
	}
	t.Error("there is none")
}

// TestForeignRoute leaves an unreachable route of somebody else alone.
func TestForeignRoute(t *testing.T) {
	b := newBox(t)
	must(t, netlink.RouteAdd(betterRoute(0)))
	must(t, b.Raise())
	must(t, b.Remove())
	if want := "unreachable 2001:db8::53/128\n"; b.String() != want {
		t.Errorf("got state:\n%swant:\n%s", b, want)
	}
}

// TestBetterRoute finds a route of our protocol that is not of the worst metric:
// it is no reason to leave ours out.
func TestBetterRoute(t *testing.T) {
	b := newBox(t)
	must(t, netlink.RouteAdd(betterRoute(netlinkx.GuardProtocol)))
	must(t, b.Ensure())
	if got := strings.Count(b.String(), "unreachable"); got != 2 {
		t.Errorf("got %d unreachable routes, want 2; the state is:\n%s", got, b)
	}
}

// betterRoute is an unreachable route to the service address that wins over
// ours.
func betterRoute(protocol netlink.RouteProtocol) *netlink.Route {
	return &netlink.Route{Dst: &net.IPNet{IP: v6.Addr().AsSlice(), Mask: net.CIDRMask(128, 128)},
		Type: unix.RTN_UNREACHABLE, Priority: 4096, Protocol: protocol}
}
