package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recuse/lab/load/stub"
)

// one makes a list of one server.
func one(s netip.AddrPort) []netip.AddrPort { return []netip.AddrPort{s} }

// lan is a mix of one name.
var lan = Mix{"a.lan."}

// ask asks one question and returns its record.
func ask(t *testing.T, c Config) Record {
	t.Helper()
	c.Rate, c.Duration, c.Mix = 1000, time.Millisecond, lan
	records, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 1 {
		t.Fatalf("%d records, want 1", len(records))
	}
	return records[0]
}

// TestOutcomes has one question meet everything that a server can do, over each
// transport.
func TestOutcomes(t *testing.T) {
	ok := Answer{Outcome: Answered, Node: "n1", Attempts: 1}
	tests := []struct {
		name string
		act  act
		udp  Answer
		tcp  Answer
	}{
		{"answered with identity", act{node: "n1"}, ok, ok},
		{"answered without identity", act{rcode: 3}, Answer{Outcome: Answered, Rcode: 3, Attempts: 1}, Answer{Outcome: Answered, Rcode: 3, Attempts: 1}},
		{"identity that is no text", act{node: "\x00\xff"}, Answer{Outcome: Answered, Node: "00ff", Attempts: 1}, Answer{Outcome: Answered, Node: "00ff", Attempts: 1}},
		{"failure", act{rcode: 2, node: "n1"}, Answer{Outcome: Answered, Rcode: 2, Node: "n1", Attempts: 1}, Answer{Outcome: Answered, Rcode: 2, Node: "n1", Attempts: 1}},
		{"extended failure", act{rcode: 16, node: "n1"}, Answer{Outcome: Answered, Rcode: 16, Node: "n1", Attempts: 1}, Answer{Outcome: Answered, Rcode: 16, Node: "n1", Attempts: 1}},
		{"silence", act{drop: true}, Answer{Outcome: Timeout, Attempts: 1}, Answer{Outcome: Timeout, Attempts: 1}},
		{"noise first", act{noise: true, node: "n1"}, ok, ok},
	}
	for _, tt := range tests {
		s := serve(t, func(asked) act { return tt.act })
		for _, transport := range Transports() {
			t.Run(tt.name+"/"+string(transport), func(t *testing.T) {
				want, server := tt.udp, s.plain
				switch want.Via = ViaUDP; transport {
				case TCP, TCPKept:
					want, want.Via = tt.tcp, ViaTCP
				case DoT:
					want, want.Via = tt.tcp, ViaTLS
					server = s.secure
				}
				want.Server = "127.0.0.1"
				before := time.Now()
				got := ask(t, Config{Servers: one(server), Transport: transport, Stub: stub.None(300 * time.Millisecond)})
				if d := cmp.Diff(want, got.Answer, cmpopts.IgnoreFields(Answer{}, "Sent", "Ended", "Port")); d != "" {
					t.Errorf("unexpected answer (-want +got):\n%s", d)
				}
				if got.Sent.Before(before.Add(-time.Second)) || got.Ended.Before(got.Sent) || got.Sent.Before(got.Intended) {
					t.Errorf("intended %v, sent %v, ended %v, begun %v: out of order", got.Intended, got.Sent, got.Ended, before)
				}
				if got.Port == 0 && want.Outcome == Answered {
					t.Errorf("no source port in %+v", got)
				}
				if waited := got.Ended.Sub(got.Intended); want.Outcome == Timeout && waited < 300*time.Millisecond {
					t.Errorf("gave up after %v, before the timeout", waited)
				}
			})
		}
	}
}

// nobody is an address where nobody listens.
func nobody(t *testing.T) netip.AddrPort {
	t.Helper()
	udp, tcp := pair(t, "127.0.0.1:0")
	defer func() { _, _ = udp.Close(), tcp.Close() }()
	return udp.LocalAddr().(*net.UDPAddr).AddrPort()
}

// TestRefused shows that a question to nobody ends at once, with the reason.
func TestRefused(t *testing.T) {
	for _, transport := range Transports() {
		t.Run(string(transport), func(t *testing.T) {
			got := ask(t, Config{Servers: one(nobody(t)), Transport: transport, Stub: stub.None(time.Minute)})
			if got.Outcome != Refused || !strings.Contains(got.Error, "refused") || got.Resets != 0 {
				t.Errorf("record %+v, want it refused with the reason, and no reset", got)
			}
		})
	}
}

// TestUnsent shows what is the generator's own failure: its client's network is
// gone.
func TestUnsent(t *testing.T) {
	gone := Network{Do: func(func() error) error { return net.ErrClosed }}
	for _, transport := range Transports() {
		t.Run(string(transport), func(t *testing.T) {
			got := ask(t, Config{Servers: one(nobody(t)), Transport: transport, Clients: []Network{gone}})
			if got.Outcome != Unsent || got.Error == "" {
				t.Errorf("record %+v, want it unsent with a reason", got)
			}
			if f := Summarize([]Record{got}); f.Void == "" || f.Unsent != 1 {
				t.Errorf("figures %+v, want the run void", f)
			}
		})
	}
}

// TestTruncated shows that a truncated answer is asked for again over TCP.
func TestTruncated(t *testing.T) {
	s := serve(t, func(asked) act { return act{truncated: true, node: "n1"} })
	for _, transport := range []Transport{UDP, UDPOnePort} {
		got := ask(t, Config{Servers: one(s.plain), Transport: transport})
		if got.Outcome != Answered || got.Via != ViaTCP || got.Attempts != 2 || got.Node != "n1" {
			t.Errorf("%s: record %+v, want it answered over TCP at the second attempt", transport, got)
		}
	}
}

// TestVerifiedDoT shows that a certificate is verified if somebody says by what.
func TestVerifiedDoT(t *testing.T) {
	s := serve(t, well("n1"))
	got := ask(t, Config{Servers: one(s.secure), Transport: DoT, TLS: &tls.Config{RootCAs: x509.NewCertPool()}})
	if got.Outcome != Refused || !strings.Contains(got.Error, "certificate") {
		t.Errorf("record %+v, want it refused for the certificate", got)
	}
}

// TestRunRefuses lists the runs that cannot be.
func TestRunRefuses(t *testing.T) {
	to := one(netip.MustParseAddrPort("127.0.0.1:53"))
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"no rate", Config{Servers: to}, "rate 0: must be more than 0"},
		{"too high a rate", Config{Servers: to, Rate: 50_001}, "must be at most 50000"},
		{"nobody to ask", Config{Rate: 1}, "nobody to ask"},
		{"no port", Config{Rate: 1, Servers: one(netip.MustParseAddrPort("127.0.0.1:0"))}, "servers[0]"},
		{"too many servers", Config{Rate: 1, Servers: make([]netip.AddrPort, 5)}, "5 of them"},
		{"no such transport", Config{Rate: 1, Servers: to, Transport: "doh"}, "must be one of udp, udp-one-port"},
		{"no such name", Config{Rate: 1, Servers: to, Mix: Mix{"a..b"}}, "mix[0]"},
		{"no time", Config{Rate: 1, Servers: to, Duration: -1}, "duration -1ns"},
		{"no patience", Config{Rate: 1, Servers: to, Patience: -1}, "patience -1ns"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Run(context.Background(), tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
