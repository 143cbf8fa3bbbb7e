package dnsx

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// inLan answers like a server of the zone lan.
func inLan(q *dns.Msg) *dns.Msg { return nxdomain(q, "lan.") }

// TestProbeAnswered proves a pass over each transport and family.
func TestProbeAnswered(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		for _, host := range []string{"127.0.0.1", "::1"} {
			t.Run(network+" "+host, func(t *testing.T) {
				p := prober(t, local(serve(t, network, host, inLan)))
				for range 3 {
					resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
				}
			})
		}
	}
}

// TestProbeMapped proves that an IPv4 address in an IPv6 one is the same server.
func TestProbeMapped(t *testing.T) {
	s := serve(t, "udp", "127.0.0.1", inLan)
	s.Addr = netip.AddrPortFrom(netip.MustParseAddr("::ffff:127.0.0.1"), s.Addr.Port())
	resulttest.Want(t, prober(t, local(s)).Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
}

// TestProbeFresh proves that every probe has a name and a source port of its
// own.
func TestProbeFresh(t *testing.T) {
	type seen struct {
		name string
		port uint16
	}
	queries := make(chan seen, 20)
	s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		queries <- seen{q.Question[0].Name, from.Port()}
		send(t, own, from, nxdomain(q, "lan."))
	})
	p := prober(t, local(s))
	names, ports := map[string]bool{}, map[uint16]bool{}
	for range 20 {
		resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
		q := <-queries
		names[q.name], ports[q.port] = true, true
	}
	if len(names) != 20 || len(ports) < 15 {
		t.Errorf("%d names and %d ports in 20 probes", len(names), len(ports))
	}
}

// TestProbeSource proves that the question comes from the address that is set.
func TestProbeSource(t *testing.T) {
	seen := make(chan netip.AddrPort, 1)
	s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		seen <- from
		send(t, own, from, nxdomain(q, "lan."))
	})
	c := local(s)
	c.Local = netip.MustParseAddr("127.0.0.7")
	resulttest.Want(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
	if got := <-seen; got.Addr() != c.Local {
		t.Errorf("asked from %v, want %v", got.Addr(), c.Local)
	}
}

// TestProbeSourceMissing proves that a source address that is not there means
// that the probe could not be made, over each transport.
func TestProbeSourceMissing(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		c := local(Server{Net: network, Addr: loopback.Addr})
		c.Local = unassigned
		resulttest.Want(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Unmade,
			"the source address is not on this box (EADDRNOTAVAIL)", false)
	}
}

// TestProbeSilent proves that no answer is a timeout by the deadline, over each
// transport, and that a server that accepts and never answers is one.
func TestProbeSilent(t *testing.T) {
	nothing := func(*dns.Msg) *dns.Msg { return nil }
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			p := prober(t, local(serve(t, network, "127.0.0.1", nothing)))
			got := p.Probe(resulttest.Within(t, brief))
			resulttest.Want(t, got, probe.Silent, "timeout", false)
			if got.RTT() < brief*9/10 {
				t.Errorf("waited for %v of %v", got.RTT(), brief)
			}
		})
	}
}

// TestProbeRefused proves that a port without a listener is told at once, over
// each transport and family.
func TestProbeRefused(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		for _, host := range []string{"127.0.0.1", "::1"} {
			t.Run(network+" "+host, func(t *testing.T) {
				// The ports below 1024 are left out of what the kernel hands out, so
				// nobody takes this one by chance.
				s := Server{Net: network, Addr: netip.AddrPortFrom(netip.MustParseAddr(host), 1)}
				got := prober(t, local(s)).Probe(resulttest.Within(t, patience))
				resulttest.Want(t, got, probe.Refused, "connection refused", false)
				if got.RTT() > patience/2 {
					t.Errorf("a refusal took %v", got.RTT())
				}
			})
		}
	}
}

// TestProbeElsewhere proves that an answer from another address is told at
// once and not waited out.
func TestProbeElsewhere(t *testing.T) {
	conns := onePort(t, "127.0.0.1", "127.0.0.2")
	own, other := conns[0], conns[1]
	s := scriptedOn(t, own, func(_ *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		send(t, other, from, nxdomain(q, "lan."))
	})
	got := prober(t, local(s)).Probe(resulttest.Within(t, patience))
	resulttest.Want(t, got, probe.Wrong, "answer from 127.0.0.2 instead of 127.0.0.1", true)
}

// TestProbeIgnores proves that packets which do not match are passed over: the
// answer behind them counts, and a timeout tells of them.
func TestProbeIgnores(t *testing.T) {
	var mute atomic.Bool
	stranger := listen(t, "127.0.0.3:0")
	s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		m := nxdomain(q, "lan.")
		spoofed := m.Copy()
		spoofed.Id++
		send(t, own, from, spoofed)
		send(t, stranger, from, spoofed)
		sendRaw(t, own, from, nil)
		if !mute.Load() {
			send(t, own, from, m)
		}
	})
	p := prober(t, local(s))
	resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
	mute.Store(true)
	resulttest.Want(t, p.Probe(resulttest.Within(t, brief)), probe.Silent, "timeout; ignored 3 packets that did not match", false)
}

// TestProbeLate proves that the answer to an earlier probe is none to a later
// one.
func TestProbeLate(t *testing.T) {
	var first func()
	s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		if first == nil {
			first = func() { send(t, own, from, nxdomain(q, "lan.")) }
			return
		}
		first()
	})
	p := prober(t, local(s))
	resulttest.Want(t, p.Probe(resulttest.Within(t, brief)), probe.Silent, "timeout", false)
	resulttest.Want(t, p.Probe(resulttest.Within(t, brief)), probe.Silent, "timeout", false)
}

// TestProbeMalformed proves that nonsense after the right id is a wrong answer.
func TestProbeMalformed(t *testing.T) {
	s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		wire, _ := nxdomain(q, "lan.").Pack()
		sendRaw(t, own, from, wire[:len(wire)-3])
	})
	resulttest.Want(t, prober(t, local(s)).Probe(resulttest.Within(t, patience)), probe.Wrong, "malformed answer", true)
}

// TestProbeTCPStrange proves what is said of connections that end or carry
// something else.
func TestProbeTCPStrange(t *testing.T) {
	tests := []struct {
		name, want string
		serve      func(conn net.Conn, query []byte)
	}{
		{"closes", "connection closed without an answer", func(net.Conn, []byte) {}},
		{"closes within the length", "connection closed without an answer",
			func(c net.Conn, _ []byte) { _, _ = c.Write([]byte{0}) }},
		{"closes within the answer", "connection closed without an answer",
			func(c net.Conn, q []byte) { _, _ = c.Write(q[:len(q)-1]) }},
		{"resets", "connection closed without an answer",
			func(c net.Conn, _ []byte) { _ = c.(*net.TCPConn).SetLinger(0) }},
		{"echoes the query", "an answer to another question",
			func(c net.Conn, q []byte) { _, _ = c.Write(q) }},
		{"empty message", "an answer to another question",
			func(c net.Conn, _ []byte) { _, _ = c.Write([]byte{0, 0}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := accept(t, tt.serve)
			resulttest.Want(t, prober(t, local(s)).Probe(resulttest.Within(t, patience)), probe.Wrong, tt.want, true)
		})
	}
}

// accept starts a TCP server that reads one query with its length, hands it to
// handle, and closes the connection.
func accept(t *testing.T, handle func(conn net.Conn, query []byte)) Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			var size [2]byte
			_, _ = io.ReadFull(conn, size[:])
			query := make([]byte, int(size[0])<<8+int(size[1]))
			_, _ = io.ReadFull(conn, query)
			handle(conn, append(size[:], query...))
			_ = conn.Close()
		}
	}()
	return Server{Net: "tcp", Addr: l.Addr().(*net.TCPAddr).AddrPort()}
}

// TestProbeEnded proves that a probe ends with its context at once, over each
// transport, and shows nothing then.
func TestProbeEnded(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			s := serve(t, network, "127.0.0.1", func(*dns.Msg) *dns.Msg {
				cancel()
				return nil
			})
			got := prober(t, local(s)).Probe(ctx)
			resulttest.Want(t, got, probe.Unmade, "the probe was ended", false)
			if got.RTT() > patience/2 {
				t.Errorf("the end took %v", got.RTT())
			}
		})
	}
}

// TestProbeOverlap proves that one prober serves many probes at once.
func TestProbeOverlap(t *testing.T) {
	p := prober(t, local(serve(t, "udp", "127.0.0.1", inLan)))
	results := make(chan probe.Result)
	ctx := resulttest.Within(t, patience)
	for range 20 {
		go func() { results <- p.Probe(ctx) }()
	}
	for range 20 {
		resulttest.Want(t, <-results, probe.Passed, "NXDOMAIN", true)
	}
}

// BenchmarkProbe measures an answered probe.
func BenchmarkProbe(b *testing.B) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			buf[2] |= 0x80
			_, _ = conn.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	benchmark(b, Server{Net: "udp", Addr: addrOf(conn)}, probe.Passed)
}

// BenchmarkRefused measures how soon a refusal is known.
func BenchmarkRefused(b *testing.B) {
	benchmark(b, Server{Net: "udp", Addr: netip.MustParseAddrPort("127.0.0.1:1")}, probe.Refused)
}

// benchmark measures probes of a server that have the cause.
func benchmark(b *testing.B, s Server, cause probe.Cause) {
	p, err := New(Config{Server: s, Name: "{random}.lan"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if res := p.Probe(ctx); res.Cause != cause {
			b.Fatalf("got %+v", res)
		}
	}
}
