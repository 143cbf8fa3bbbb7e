package dnsx

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// patience is the deadline of probes that are answered; none comes near it.
const patience = 10 * time.Second

// brief is the deadline of probes that are meant to time out.
const brief = 200 * time.Millisecond

// serve starts a DNS server on a free loopback port that answers with what
// handle returns, nothing if that is nil.
func serve(t *testing.T, network, host string, handle func(q *dns.Msg) *dns.Msg, options ...func(*dns.Server)) Server {
	t.Helper()
	up := make(chan struct{})
	s := &dns.Server{
		Net: network, Addr: net.JoinHostPort(host, "0"),
		NotifyStartedFunc: func() { close(up) },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			if m := handle(q); m != nil {
				if err := w.WriteMsg(m); err != nil {
					t.Errorf("failed to answer: %v", err)
				}
			}
		}),
	}
	for _, o := range options {
		o(s)
	}
	ended := make(chan error, 1)
	run := s.ListenAndServe
	if s.Listener != nil { // an option opened it
		run = s.ActivateAndServe
	}
	go func() { ended <- run() }()
	select {
	case <-up:
	case err := <-ended:
		t.Fatalf("failed to start the server: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Errorf("failed to stop the server: %v", err)
		}
		<-ended
	})
	if network == "tcp" {
		return Server{Net: network, Addr: s.Listener.Addr().(*net.TCPAddr).AddrPort()}
	}
	return Server{Net: network, Addr: s.PacketConn.LocalAddr().(*net.UDPAddr).AddrPort()}
}

// maxQueries has a server end a connection after so many.
func maxQueries(n int) func(*dns.Server) { return func(s *dns.Server) { s.MaxTCPQueries = n } }

// listen opens a UDP socket on the address, port 0 for any.
func listen(t *testing.T, addr string) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(addr)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// addrOf returns the address of a socket.
func addrOf(conn *net.UDPConn) netip.AddrPort { return conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// scripted starts a UDP server on a free loopback port. It hands every query to
// reply, which answers from whatever socket it likes.
func scripted(t *testing.T, reply func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort)) Server {
	t.Helper()
	return scriptedOn(t, listen(t, "127.0.0.1:0"), reply)
}

// scriptedOn is scripted on a socket that is open already.
func scriptedOn(t *testing.T, conn *net.UDPConn, reply func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort)) Server {
	t.Helper()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			q := new(dns.Msg)
			if err := q.Unpack(buf[:n]); err != nil {
				t.Errorf("failed to read a query: %v", err)
				return
			}
			reply(conn, q, from)
		}
	}()
	return Server{Net: "udp", Addr: addrOf(conn)}
}

// send writes an answer, and fails the test if that does.
func send(t *testing.T, conn *net.UDPConn, to netip.AddrPort, m *dns.Msg) {
	wire, err := m.Pack()
	if err != nil {
		t.Errorf("failed to write an answer: %v", err)
	}
	sendRaw(t, conn, to, wire)
}

// sendRaw writes a packet, and fails the test if that does for another reason
// than the test's end.
func sendRaw(t *testing.T, conn *net.UDPConn, to netip.AddrPort, wire []byte) {
	if _, err := conn.WriteToUDPAddrPort(wire, to); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Errorf("failed to send an answer: %v", err)
	}
}

// nxdomain returns the answer of a server of the zone: no such name.
func nxdomain(q *dns.Msg, zone string) *dns.Msg {
	m := new(dns.Msg)
	m.SetRcode(q, dns.RcodeNameError)
	m.Ns = []dns.RR{record(zone + " 60 IN SOA ns.lan. admin.lan. 1 2 3 4 60")}
	return m
}

// record returns the record that the text spells.
func record(text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		panic(err)
	}
	return rr
}

// unassigned is a documentation address that no box has.
var unassigned = netip.MustParseAddr("192.0.2.77")

// udpPort returns the server on an address and port.
func udpPort(t *testing.T, addr string) Server {
	t.Helper()
	return Server{Net: "udp", Addr: netip.MustParseAddrPort(addr)}
}

// local is the question of most tests: a fresh name in lan.
func local(s Server) Config { return Config{Server: s, Name: "{random}.lan", SOA: "lan"} }

// prober returns the prober of c.
func prober(t *testing.T, c Config) *Prober {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reply returns an answer to q that has a code and nothing else.
func reply(q *dns.Msg, code int) *dns.Msg { return new(dns.Msg).SetRcode(q, code) }
