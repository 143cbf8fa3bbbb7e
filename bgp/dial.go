package bgp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dialTimeout is longer than the three seconds after which Linux says that
// nobody answers ARP, which is a better reason than none. A SYN is repeated
// meanwhile, so a router that comes back is found at once.
const dialTimeout = 4 * time.Second

// dial opens the TCP connection to p's router.
func (p Peer) dial(ctx context.Context, external bool) (*net.TCPConn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	d := net.Dialer{KeepAlive: -1, Control: p.prepare(external)}
	d.SetMultipathTCP(false) // knows no MD5
	if p.LocalAddress.IsValid() {
		local := p.LocalAddress
		if local.IsLinkLocalUnicast() && local.Is6() && local.Zone() == "" {
			local = local.WithZone(p.Interface)
		}
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
	}
	conn, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(p.Address, p.Port).String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// dialWords says in words why the router was not reached, and what to look at.
func (p Peer) dialWords(err error) string {
	to := netip.AddrPortFrom(p.Address, p.Port)
	var timeout net.Error
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Sprintf("%s refuses the TCP connection: no BGP there, or it does not take this address", to)
	case errors.Is(err, unix.EHOSTUNREACH):
		return fmt.Sprintf("%s cannot be reached: it does not answer on the link, or a router on the way says so", to)
	case errors.Is(err, unix.ENETUNREACH):
		return fmt.Sprintf("no route to %s: the uplink may be down or have no address yet", to)
	case errors.Is(err, unix.EADDRNOTAVAIL) && p.LocalAddress.IsValid():
		return fmt.Sprintf("local_address %s is not on this box (yet)", p.LocalAddress)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fmt.Sprintf("no usable local address towards %s (yet)", to)
	case errors.Is(err, unix.ENODEV):
		return fmt.Sprintf("interface %s is not on this box (yet)", p.Interface)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return p.silenceWords(to)
	}
	return fmt.Sprintf("failed to connect to %s: %v", to, err)
}

// silenceWords explains a TCP connection that gets no answer. A router drops
// packets with a wrong MD5 key or TTL without a word, so silence is all that
// there is to see.
func (p Peer) silenceWords(to netip.AddrPort) string {
	causes := "it may expect an MD5 password, port %d may be filtered, or the router is down"
	if p.Password != "" {
		causes = "the MD5 password may differ or the router has none, port %d may be filtered, or the router is down"
	}
	if p.TTLSecurity {
		causes = "ttl_security may be set on one side only, " + causes
	}
	return fmt.Sprintf("%s gives no answer to the TCP connection: "+causes, to, to.Port())
}
