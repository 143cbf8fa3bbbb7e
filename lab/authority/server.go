package authority

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/miekg/dns"
)

// Config says where a server listens.
type Config struct {
	Listen  []netip.AddrPort // DNS, over UDP and TCP; one socket each, so that answers bear the right source
	Control string           // path of the Unix socket for a Client
	Leases  int              // size of the lease table, whose names and addresses it serves too
	NSID    string           // whom it says it is, to those who ask (RFC 5001); none: nobody
}

// Server answers for the lab's zones.
type Server struct {
	content map[string]*zone
	state   *state
	nsid    string
	ctx     context.Context // ends the delayed answers
}

// Run serves until ctx ends, which is no error, or until a listener fails.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	content := zones()
	if err := lease(content, c.Leases); err != nil {
		return fmt.Errorf("failed to serve: %w", err)
	}
	s := &Server{content: content, state: newState(content), nsid: c.NSID, ctx: ctx}
	var stops []func()
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	failed := make(chan error, 2*len(c.Listen)+1)
	for _, addr := range c.Listen {
		for _, listen := range []func(netip.AddrPort) (*dns.Server, error){s.listenUDP, s.listenTCP} {
			srv, err := listen(addr)
			if err != nil {
				return err
			}
			stops = append(stops, func() { _ = srv.Shutdown() })
			go func() { failed <- srv.ActivateAndServe() }()
		}
	}
	// The socket is made last: once it is there, the zones are served.
	// A run that was killed leaves its own behind.
	if err := os.Remove(c.Control); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failed to remove old control socket: %w", err)
	}
	control, err := net.Listen("unix", c.Control)
	if err != nil {
		return fmt.Errorf("failed to listen on control socket %s: %w", c.Control, err)
	}
	stops = append(stops, func() { _ = control.Close() })
	go func() { failed <- s.serveControl(control) }()
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("failed to serve: %w", err)
	}
}

// listenUDP binds one UDP socket.
func (s *Server) listenUDP(addr netip.AddrPort) (*dns.Server, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return nil, fmt.Errorf("failed to listen on udp %s: %w", addr, err)
	}
	return &dns.Server{PacketConn: conn, Handler: s}, nil
}

// listenTCP binds one TCP socket.
func (s *Server) listenTCP(addr netip.AddrPort) (*dns.Server, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return nil, fmt.Errorf("failed to listen on tcp %s: %w", addr, err)
	}
	return &dns.Server{Listener: l, Handler: s}, nil
}

// ServeDNS answers one query as its zone behaves now. The behaviour is read
// when the query comes: a delay that ends does not hurry what is under way.
func (s *Server) ServeDNS(w dns.ResponseWriter, req *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(req)
	if len(req.Question) != 1 {
		m.Rcode = dns.RcodeFormatError
		_ = w.WriteMsg(m)
		return
	}
	s.identify(m, req)
	z := find(s.content, req.Question[0].Name)
	client, over := source(w)
	b := s.state.count(z.apex, client, over)
	if b.Failure == Drop || !wait(s.ctx, b.Delay) {
		return
	}
	if b.Failure == ServFail {
		m.Rcode = dns.RcodeServerFailure
	} else {
		z.answer(m, req.Question[0])
	}
	if over == UDP {
		m.Truncate(largest(req))
	}
	// The asker has its own deadline; an answer that cannot be sent is lost
	// like any other.
	_ = w.WriteMsg(m)
}

// identify says who answers, to a query that asks for it.
func (s *Server) identify(m, req *dns.Msg) {
	opt := req.IsEdns0()
	if s.nsid == "" || opt == nil {
		return
	}
	for _, o := range opt.Option {
		if o.Option() == dns.EDNS0NSID {
			m.SetEdns0(opt.UDPSize(), false)
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID,
				Nsid: hex.EncodeToString([]byte(s.nsid))}}
		}
	}
}

// largest is the size of the longest answer that the asker takes over UDP: what
// it says (RFC 6891 section 6.2.3), else 512 bytes.
func largest(req *dns.Msg) int {
	if opt := req.IsEdns0(); opt != nil {
		return int(opt.UDPSize())
	}
	return dns.MinMsgSize
}

// source is the client's address, and the transport over which it asked.
func source(w dns.ResponseWriter) (client netip.Addr, over string) {
	switch a := w.RemoteAddr().(type) {
	case *net.UDPAddr:
		return a.AddrPort().Addr().Unmap(), UDP
	case *net.TCPAddr:
		return a.AddrPort().Addr().Unmap(), TCP
	}
	return netip.Addr{}, ""
}

// wait lets d pass and reports whether ctx still stands.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
