package bgp

import (
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// classSelector6 marks routing traffic (RFC 4594, section 3.2), as the TOS
// byte or traffic class.
const classSelector6 = 0xc0

// ttl returns the TTL that our packets to p bear and the lowest that is taken
// from it; 0 leaves the system's.
func (p Peer) ttl(external bool) (out, least int) {
	switch {
	case p.TTLSecurity:
		return 255, 255 // RFC 5082
	case p.Multihop > 0:
		return p.Multihop, 0
	case external:
		return 1, 0
	}
	return 0, 0
}

// prepare sets what the socket of a session needs before it connects.
func (p Peer) prepare(external bool) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return control(c, func(fd int) error {
			if p.Interface != "" {
				if err := unix.BindToDevice(fd, p.Interface); err != nil {
					return fmt.Errorf("failed to bind to interface %s: %w", p.Interface, err)
				}
			}
			if p.Password != "" {
				if err := setMD5(fd, p.Address, p.Password, p.Address.Is6()); err != nil {
					return err
				}
			}
			return p.tune(fd, external)
		})
	}
}

// tune sets what any socket of a session with p needs, accepted ones too.
func (p Peer) tune(fd int, external bool) error {
	out, least := p.ttl(external)
	level, ttl, minTTL, class := unix.IPPROTO_IP, unix.IP_TTL, unix.IP_MINTTL, unix.IP_TOS
	if p.Address.Is6() {
		level, ttl, minTTL, class = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, unix.IPV6_MINHOPCOUNT, unix.IPV6_TCLASS
	}
	if out > 0 {
		if err := unix.SetsockoptInt(fd, level, ttl, out); err != nil {
			return fmt.Errorf("failed to set TTL %d: %w", out, err)
		}
	}
	if least > 0 {
		if err := unix.SetsockoptInt(fd, level, minTTL, least); err != nil {
			return fmt.Errorf("failed to demand TTL %d (ttl_security): %w", least, err)
		}
	}
	// A router that takes nothing for the hold time is as dead as one that
	// sends nothing (RFC 9687).
	hold := int(p.HoldTime.Milliseconds())
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, hold); err != nil {
		return fmt.Errorf("failed to set TCP user timeout: %w", err)
	}
	if err := unix.SetsockoptInt(fd, level, class, classSelector6); err != nil {
		return fmt.Errorf("failed to set traffic class: %w", err)
	}
	return nil
}

// setMD5 sets the key for packets from and to addr (RFC 2385); "" removes it.
// mapped says that the socket is an IPv6 one.
func setMD5(fd int, addr netip.Addr, key string, inet6 bool) error {
	sig := &unix.TCPMD5Sig{Keylen: uint16(len(key))}
	copy(sig.Key[:], key)
	// struct sockaddr_in has the address at byte 4, sockaddr_in6 at byte 8;
	// Data begins after the two bytes of the family.
	if inet6 {
		sig.Addr.Family = unix.AF_INET6
		b := addr.As16()
		copy(sig.Addr.Data[6:], b[:])
	} else {
		sig.Addr.Family = unix.AF_INET
		b := addr.As4()
		copy(sig.Addr.Data[2:], b[:])
	}
	if err := unix.SetsockoptTCPMD5Sig(fd, unix.IPPROTO_TCP, unix.TCP_MD5SIG, sig); err != nil {
		return fmt.Errorf("failed to set the MD5 key for %s (does the kernel have TCP_MD5SIG?): %w", addr, err)
	}
	return nil
}

// control runs f on the descriptor of c.
func control(c syscall.RawConn, f func(fd int) error) error {
	var err error
	if e := c.Control(func(fd uintptr) { err = f(int(fd)) }); e != nil {
		return fmt.Errorf("failed to reach a socket: %w", e)
	}
	return err
}
