package dnsx

import (
	"net"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// serveOn starts a server on each address, all on one free port, that answers
// with what handle returns.
func serveOn(t *testing.T, addrs []string, handle func(addr string, q *dns.Msg) *dns.Msg) PathConfig {
	t.Helper()
	c := PathConfig{Question: Config{Name: "{random}.lan", SOA: "lan"}}
	for i, conn := range onePort(t, addrs...) {
		a := addrs[i]
		c.Port = addrOf(conn).Port()
		c.Addresses = append(c.Addresses, netip.MustParseAddr(a))
		scriptedOn(t, conn, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			if m := handle(a, q); m != nil {
				send(t, own, from, m)
			}
		})
	}
	return c
}

// path returns the prober of c.
func path(t *testing.T, c PathConfig) *Path {
	t.Helper()
	p, err := NewPath(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPathWorst proves that the worst address counts and is named, and that an
// answer from any is a sign of life.
func TestPathWorst(t *testing.T) {
	const a, b = "127.0.0.11", "127.0.0.12"
	fail := func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) }
	silent := func(*dns.Msg) *dns.Msg { return nil }
	tests := []struct {
		name   string
		a, b   func(*dns.Msg) *dns.Msg
		cause  probe.Cause
		result string
		alive  bool
	}{
		{"both answer", inLan, inLan, probe.Passed, "NXDOMAIN", true},
		{"one is wrong", inLan, fail, probe.Wrong, "127.0.0.12: SERVFAIL", true},
		{"one is silent", silent, inLan, probe.Silent, "127.0.0.11: timeout", true},
		{"silent is worse than wrong", fail, silent, probe.Silent, "127.0.0.12: timeout", true},
		{"both are silent", silent, silent, probe.Silent, "127.0.0.11: timeout", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := serveOn(t, []string{a, b}, func(addr string, q *dns.Msg) *dns.Msg {
				return map[string]func(*dns.Msg) *dns.Msg{a: tt.a, b: tt.b}[addr](q)
			})
			d := patience
			if tt.cause == probe.Silent {
				d = brief
			}
			resulttest.Want(t, path(t, c).Probe(resulttest.Within(t, d)), tt.cause, tt.result, tt.alive)
		})
	}
}

// TestPathRefused proves that an address without a listener is told, and that
// what the other address shows is still a sign of life.
func TestPathRefused(t *testing.T) {
	c := serveOn(t, []string{"127.0.0.11"}, func(_ string, q *dns.Msg) *dns.Msg { return inLan(q) })
	c.Addresses = append(c.Addresses, netip.MustParseAddr("127.0.0.12"))
	resulttest.Want(t, path(t, c).Probe(resulttest.Within(t, patience)), probe.Refused, "127.0.0.12: connection refused", true)
	c.Addresses = c.Addresses[1:]
	resulttest.Want(t, path(t, c).Probe(resulttest.Within(t, patience)), probe.Refused, "127.0.0.12: connection refused", false)
}

// TestPathSource proves a fixed source, and the loopback address without one.
func TestPathSource(t *testing.T) {
	for _, tt := range []struct{ source, want string }{{"", "127.0.0.1"}, {"127.0.0.9", "127.0.0.9"}, {"::1", "127.0.0.1"}} {
		seen := make(chan netip.AddrPort, 1)
		s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			seen <- from
			send(t, own, from, inLan(q))
		})
		c := PathConfig{Addresses: []netip.Addr{s.Addr.Addr()}, Port: s.Addr.Port(), Question: Config{Name: "{random}.lan"}}
		if tt.source != "" {
			c.Source = netip.MustParseAddr(tt.source)
		}
		resulttest.Want(t, path(t, c).Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
		if got := (<-seen).Addr().String(); got != tt.want {
			t.Errorf("source %q: asked from %v, want %v", tt.source, got, tt.want)
		}
	}
}

// TestPathErrors proves which paths are refused.
func TestPathErrors(t *testing.T) {
	if _, err := NewPath(PathConfig{}); err == nil || err.Error() != "no service address to ask" {
		t.Errorf("no address: got %v", err)
	}
	c := PathConfig{Addresses: []netip.Addr{netip.IPv6Loopback()}, Question: Config{Name: "a..b"}}
	const text = `service path to ::1: name: "a..b": not a domain name: labels are 1 to 63 characters, the whole at most 253`
	if _, err := NewPath(c); err == nil || err.Error() != text {
		t.Errorf("bad name: got %v, want %q", err, text)
	}
	c.Question.Name = "{random}.lan"
	p := path(t, c)
	if got := p.targets[0].sources[0].config.Server.String(); got != "udp://[::1]:53" {
		t.Errorf("asks %v", got)
	}
}

// TestWorse proves the order of causes for a client.
func TestWorse(t *testing.T) {
	order := []probe.Cause{probe.Passed, probe.Unmade, probe.Wrong, probe.Silent, probe.Refused}
	lo, hi := netip.MustParseAddr("10.1.9.53"), netip.MustParseAddr("10.1.9.54")
	for i, x := range order {
		for j, y := range order {
			a, b := named{lo, finding{cause: x}}, named{hi, finding{cause: y}}
			want := order[max(i, j)]
			if worse(a, b).cause != want || worse(b, a).cause != want {
				t.Errorf("of %v and %v the worse is not %v", x, y, want)
			}
			if x == y && (worse(a, b) != a || worse(b, a) != a) {
				t.Errorf("of two %v it is not the lower address", x)
			}
		}
	}
}
