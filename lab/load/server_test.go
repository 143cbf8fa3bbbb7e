package load

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/big"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// act is what a scripted server does about one question.
type act struct {
	rcode     int
	node      string        // its NSID; "" if it does not say
	delay     time.Duration // before it answers
	drop      bool          // no answer
	reset     bool          // the connection is reset instead
	hangUp    bool          // the connection is closed in order instead
	truncated bool          // over UDP: only the TC bit
	noise     bool          // first: garbage, another number, another name, the question itself
}

// asked is a question as the server saw it.
type asked struct {
	n    int // from 0
	via  Via
	from string // address and port
	msg  *dns.Msg
}

// script decides what the server does.
type script func(asked) act

// server answers on loopback as its script says, over UDP, TCP and TLS, and
// notes who asked.
type server struct {
	t      testing.TB
	script script
	plain  netip.AddrPort // UDP and TCP
	secure netip.AddrPort // TLS

	mu          sync.Mutex
	seen        []asked
	connections int
	open        map[net.Conn]bool
	closed      bool
	running     sync.WaitGroup
}

// serve starts a server that ends with the test.
func serve(t testing.TB, s script) *server {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", s)
}

// serveAt is serve at another address.
func serveAt(t testing.TB, at string, s script) *server {
	t.Helper()
	v := &server{t: t, script: s, open: map[net.Conn]bool{}}
	udp, tcp := pair(t, at)
	v.plain = udp.LocalAddr().(*net.UDPAddr).AddrPort()
	secure, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
	if err != nil {
		t.Fatal(err)
	}
	v.secure = secure.Addr().(*net.TCPAddr).AddrPort()
	v.running.Go(func() { v.packets(udp) })
	v.running.Go(func() { v.accept(tcp, ViaTCP) })
	v.running.Go(func() { v.accept(secure, ViaTLS) })
	t.Cleanup(func() {
		_, _, _ = udp.Close(), tcp.Close(), secure.Close()
		v.mu.Lock()
		v.closed = true
		for c := range v.open {
			_ = c.Close()
		}
		v.mu.Unlock()
		v.running.Wait()
	})
	return v
}

// pair listens on a port that is free for both UDP and TCP.
func pair(t testing.TB, at string) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		udp, err := net.ListenPacket("udp", at)
		if err != nil {
			t.Fatal(err)
		}
		if tcp, err := net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			return udp, tcp
		}
		_ = udp.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

// certificate signs itself for 127.0.0.1.
func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// packets answers over UDP.
func (s *server) packets(conn net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		m := new(dns.Msg)
		if m.Unpack(buf[:n]) != nil {
			s.t.Errorf("server got what is no DNS message from %s", from)
			continue
		}
		a, ok := s.decide(ViaUDP, from.String(), m)
		if !ok {
			continue
		}
		s.later(a.delay, func() {
			for _, b := range a.messages(s.t, m) {
				_, _ = conn.WriteTo(b, from) // the asker may be gone, which its own test sees
			}
		})
	}
}

// decide notes a question and asks the script; false: no answer.
func (s *server) decide(via Via, from string, m *dns.Msg) (act, bool) {
	s.mu.Lock()
	q := asked{n: len(s.seen), via: via, from: from, msg: m}
	s.seen = append(s.seen, q)
	s.mu.Unlock()
	a := s.script(q)
	return a, !a.drop
}

// later runs f after a while, on a goroutine that the server waits for.
func (s *server) later(d time.Duration, f func()) {
	if d == 0 {
		f()
		return
	}
	s.running.Go(func() {
		<-time.After(d)
		f()
	})
}

// accept serves connections.
func (s *server) accept(l net.Listener, via Via) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[c] = true
		s.connections++
		closed := s.closed
		s.mu.Unlock()
		if closed {
			_ = c.Close()
			return
		}
		s.running.Go(func() { s.stream(c, via) })
	}
}

// stream answers on one connection.
func (s *server) stream(c net.Conn, via Via) {
	defer c.Close()
	var writing sync.Mutex
	for {
		m, err := readStream(c)
		if err != nil {
			return
		}
		a, ok := s.decide(via, c.RemoteAddr().String(), m)
		switch {
		case a.reset:
			reset(c)
			return
		case a.hangUp:
			return
		case !ok:
			continue
		}
		a.truncated = false
		s.later(a.delay, func() {
			writing.Lock()
			defer writing.Unlock()
			for _, b := range a.messages(s.t, m) {
				_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
			}
		})
	}
}

// readStream reads one message.
func readStream(c net.Conn) (*dns.Msg, error) {
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	m := new(dns.Msg)
	return m, m.Unpack(b)
}

// reset makes the connection's end an RST.
func reset(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// messages are what is sent for an answer to m.
func (a act) messages(t testing.TB, m *dns.Msg) [][]byte {
	r := new(dns.Msg)
	r.SetRcode(m, a.rcode)
	r.Truncated = a.truncated
	if a.node != "" {
		r.SetEdns0(udpSize, false)
		r.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hex.EncodeToString([]byte(a.node))}}
	}
	var all []*dns.Msg
	if a.noise {
		other := r.Copy()
		other.Id++
		name := r.Copy()
		name.Question[0].Name = "other."
		all = append(all, other, name, m)
	}
	out := [][]byte{}
	if a.noise {
		out = append(out, []byte("noise"))
	}
	for _, r := range append(all, r) {
		b, err := r.Pack()
		if err != nil {
			t.Errorf("failed to pack answer: %v", err)
		}
		out = append(out, b)
	}
	return out
}

// hangUp closes all connections in order.
func (s *server) hangUp() { s.each(func(c net.Conn) { _ = c.Close() }) }

// resetAll resets all connections.
func (s *server) resetAll() { s.each(reset) }

// each does something to all connections.
func (s *server) each(f func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		f(c)
	}
	clear(s.open)
}

// ports counts the source ports that were seen.
func (s *server) ports() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := map[string]bool{}
	for _, q := range s.seen {
		from[q.from] = true
	}
	return len(from)
}

// well answers everything as a node.
func well(node string) script { return func(asked) act { return act{node: node} } }
