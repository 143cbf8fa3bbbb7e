package dnsx

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/probe"
)

// askOnce asks over a flow within a time.
func askOnce(t *testing.T, f *Flow, i Inquiry, within time.Duration) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return f.Ask(ctx, i)
}

// TestFlowKeepsItsPort proves that what is asked over one flow comes from one
// port, and that an answer to an earlier question is none to
// this.
func TestFlowKeepsItsPort(t *testing.T) {
	ports := make(chan netip.AddrPort, 3)
	var last *dns.Msg
	s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		ports <- from
		if last != nil {
			send(t, own, from, withNSID(last, "6f6c64")) // "old"
		}
		last = q
		send(t, own, from, withNSID(q, "6e31"))
	})
	f := NewFlow(s, netip.Addr{})
	defer f.Close()
	for range 3 {
		if a := askOnce(t, f, Inquiries()[0], patience); a.Node != "n1" || a.Cause != probe.Passed || a.RTT() <= 0 {
			t.Errorf("got %+v", a)
		}
	}
	if a, b, c := <-ports, <-ports, <-ports; a != b || b != c {
		t.Errorf("asked from %s, %s and %s", a, b, c)
	}
}

// TestFlowOverTCP asks twice over one connection.
func TestFlowOverTCP(t *testing.T) {
	s := serve(t, "tcp", "127.0.0.1", func(q *dns.Msg) *dns.Msg { return withNSID(q, "6e31") })
	f := NewFlow(s, netip.MustParseAddr("127.0.0.5"))
	defer f.Close()
	var at string
	for i := range 2 {
		if a := askOnce(t, f, Inquiries()[0], patience); a.Node != "n1" {
			t.Fatalf("got %+v", a)
		}
		if i == 0 {
			at = f.conn.LocalAddr().String()
		}
	}
	if now := f.conn.LocalAddr().String(); now != at || netip.MustParseAddrPort(at).Addr() != netip.MustParseAddr("127.0.0.5") {
		t.Errorf("asked from %s, then from %s", at, now)
	}
}

// TestFlowOverClosingTCP asks twice a server that ends each connection after
// one answer.
func TestFlowOverClosingTCP(t *testing.T) {
	s := serve(t, "tcp", "127.0.0.1", func(q *dns.Msg) *dns.Msg { return withNSID(q, "6e31") }, maxQueries(1))
	f := NewFlow(s, netip.Addr{})
	defer f.Close()
	for range 2 {
		if a := askOnce(t, f, Inquiries()[0], patience); a.Node != "n1" || a.Cause != probe.Passed {
			t.Fatalf("got %+v", a)
		}
	}
}

// TestFlowOfEscapes asks for a name whose bytes an answer spells otherwise.
func TestFlowOfEscapes(t *testing.T) {
	for _, name := range []string{`\119ho.lan`, `w\ho.lan`, "höchst.lan", `a\.b.lan`} {
		s := scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			m := reply(q, dns.RcodeSuccess)
			m.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{"n1"}}}
			send(t, own, from, m)
		})
		f := NewFlow(s, netip.Addr{})
		defer f.Close()
		if a := askOnce(t, f, inquire(t, name, dns.TypeTXT), patience); a.Node != "n1" {
			t.Errorf("%s: got %+v", name, a)
		}
	}
}

// TestFlowWithoutIdentity says of every other end what it is.
func TestFlowWithoutIdentity(t *testing.T) {
	other := listen(t, "127.0.0.9:0")
	closed := listen(t, "127.0.0.1:0")
	closed.Close()
	for _, tt := range []struct {
		name   string
		server Server
		ask    Inquiry
		cause  probe.Cause
		want   string
	}{
		{"no EDNS", scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			m := reply(q, dns.RcodeFormatError)
			m.Question = nil
			send(t, own, from, m)
		}), Inquiries()[0], probe.Passed, "FORMERR"},
		{"truncated", scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			m := reply(q, dns.RcodeSuccess)
			m.Truncated = true
			send(t, own, from, m)
		}), Inquiries()[1], probe.Passed, "NOERROR, truncated"},
		{"silent", scripted(t, func(*net.UDPConn, *dns.Msg, netip.AddrPort) {}), Inquiries()[0], probe.Silent, "timeout"},
		{"from elsewhere", scripted(t, func(_ *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			send(t, other, from, withNSID(q, "6e31"))
		}), Inquiries()[0], probe.Wrong, "answer from " + addrOf(other).String() + " instead of "},
		{"malformed", scripted(t, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
			wire, _ := withNSID(q, "6e31").Pack()
			sendRaw(t, own, from, wire[:len(wire)-1])
		}), Inquiries()[0], probe.Wrong, "malformed answer"},
		{"refused", Server{Net: "udp", Addr: addrOf(closed)}, Inquiries()[0], probe.Refused, "connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			within := patience
			if tt.cause == probe.Silent {
				within = brief
			}
			f := NewFlow(tt.server, netip.Addr{})
			defer f.Close()
			a := askOnce(t, f, tt.ask, within)
			if tt.name == "from elsewhere" {
				tt.want += tt.server.Addr.String()
			}
			if a.Node != "" || a.Cause != tt.cause || a.Outcome != tt.want {
				t.Errorf("got %+v, want %v: %s", a, tt.cause, tt.want)
			}
		})
	}
}
