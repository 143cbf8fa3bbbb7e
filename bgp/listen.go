package bgp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// listen opens the port for routers that dial us.
func (s *Speaker) listen(ctx context.Context) (*net.TCPListener, error) {
	at := s.config().Listen
	lc := net.ListenConfig{KeepAlive: -1, Control: func(_, _ string, c syscall.RawConn) error {
		return control(c, func(fd int) error { return s.prepareListener(fd, at.Addr().Is6()) })
	}}
	lc.SetMultipathTCP(false) // knows no MD5
	network := "tcp"
	if at.Addr().Is4() {
		network = "tcp4" // else 0.0.0.0 makes an IPv6 socket
	}
	l, err := lc.Listen(ctx, network, at.String())
	if err != nil {
		return nil, fmt.Errorf("failed to listen on %s (bgp.listen): %w", at, err)
	}
	return l.(*net.TCPListener), nil
}

// prepareListener sets what a connection needs before it is accepted: the
// keys, and a TTL for our side of the handshake that ttl_security takes.
func (s *Speaker) prepareListener(fd int, inet6 bool) error {
	// An IPv6 socket takes IPv4 connections too, with the TTL of IPv4.
	err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, 255)
	if err == nil && inet6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, 255)
	}
	if err != nil {
		return fmt.Errorf("failed to set TTL 255: %w", err)
	}
	for _, p := range s.config().Peers {
		if p.Password == "" || p.Address.Is6() && !inet6 {
			continue
		}
		if err := setMD5(fd, p.Address, p.Password, inet6); err != nil {
			return err
		}
	}
	return nil
}

// rekey makes the open port follow a change of passwords. The caller holds mu.
func (s *Speaker) rekey(was, is []Peer) {
	if s.listener == nil {
		return
	}
	keys := make(map[netip.Addr]string)
	for _, p := range was {
		keys[p.Address] = p.Password
	}
	changed := make(map[netip.Addr]string)
	for _, p := range is {
		if keys[p.Address] != p.Password {
			changed[p.Address] = p.Password
		}
		delete(keys, p.Address)
	}
	for addr, key := range keys {
		if key != "" {
			changed[addr] = "" // removed
		}
	}
	raw, err := s.listener.SyscallConn()
	if err != nil {
		return // it is being closed, and a new one has the new keys
	}
	inet6 := s.cfg.Listen.Addr().Is6()
	for addr, key := range changed {
		if addr.Is6() && !inet6 {
			continue
		}
		if err := control(raw, func(fd int) error { return setMD5(fd, addr, key, inet6) }); err != nil {
			s.log.Error("bgp password not changed for connections from the router", "peer", addr, "error", err)
		}
	}
}

// accept hands connections to their peers until l fails, by being closed for
// one.
func (s *Speaker) accept(l *net.TCPListener) error {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return fmt.Errorf("failed to accept a connection: %w", err)
		}
		from := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		p := find(s.list(), from)
		if p == nil {
			s.log.Debug("bgp connection from a stranger closed", "address", from)
			_ = conn.Close()
			continue
		}
		if err := p.adopt(conn); err != nil {
			p.log.Debug("bgp connection closed", "error", err)
			_ = conn.Close()
			continue
		}
		p.offer(conn)
	}
}

// adopt sets the options of an accepted connection.
func (p *peer) adopt(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("failed to reach a socket: %w", err)
	}
	return control(raw, func(fd int) error { return p.cfg.tune(fd, p.external) })
}
