package authority

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// running is a server on loopback.
type running struct {
	Client
	at    string
	ended chan error
	stop  context.CancelFunc
}

// start runs a server and waits until its control socket answers.
func start(t *testing.T) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	addr := freePort(t)
	r := &running{
		Client: Client{Socket: filepath.Join(t.TempDir(), "control")},
		at:     addr.String(), ended: make(chan error, 1), stop: stop,
	}
	go func() { r.ended <- Run(ctx, Config{Listen: []netip.AddrPort{addr}, Control: r.Socket}) }()
	t.Cleanup(stop)
	deadline, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for tick := time.Tick(5 * time.Millisecond); ; {
		_, err := r.Zones(deadline)
		if err == nil {
			return r
		}
		select {
		case <-tick:
		case err := <-r.ended:
			t.Fatalf("the server ended: %v", err)
		case <-deadline.Done():
			t.Fatal(err)
		}
	}
}

// freePort is a port of loopback that is free over UDP and TCP.
func freePort(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// ask puts a question over a network and returns the code and how long it took;
// "" for no answer within the timeout.
func (r *running) ask(network, name string, timeout time.Duration) (string, time.Duration) {
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	c := dns.Client{Net: network, Timeout: timeout}
	answer, rtt, err := c.Exchange(m, r.at)
	if err != nil {
		return "", 0
	}
	return dns.RcodeToString[answer.Rcode], rtt
}

// TestBehaviour sets each behaviour and sees it over UDP and TCP, on its zone
// alone.
func TestBehaviour(t *testing.T) {
	r := start(t)
	const late = 200 * time.Millisecond
	tests := []struct {
		name      string
		behaviour Behaviour
		want      string
		least     time.Duration
		failed    int
	}{
		{"well", Behaviour{}, "NOERROR", 0, 0},
		{"late", Behaviour{Delay: late}, "NOERROR", late, 0},
		{"wrong", Behaviour{Failure: ServFail}, "SERVFAIL", 0, 2},
		{"late and wrong", Behaviour{Delay: late, Failure: ServFail}, "SERVFAIL", late, 4},
		{"silent", Behaviour{Failure: Drop}, "", 0, 6},
		{"well again", Behaviour{}, "NOERROR", 0, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := r.Set(t.Context(), LAN, tt.behaviour); err != nil {
				t.Fatal(err)
			}
			for _, network := range []string{"udp", "tcp"} {
				timeout := 5 * time.Second
				if tt.want == "" {
					timeout = 100 * time.Millisecond
				}
				got, took := r.ask(network, "nas.lan.", timeout)
				if got != tt.want || took < tt.least {
					t.Errorf("over %s: %q after %v, want %q after %v", network, got, took, tt.want, tt.least)
				}
			}
			if got, _ := r.ask("udp", "mail.internet.example.", 5*time.Second); got != "NOERROR" {
				t.Errorf("the other zone says %q", got)
			}
			zones, err := r.Zones(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if z := zones[LAN]; z.Failed != tt.failed || z.Behaviour != tt.behaviour {
				t.Errorf("the zone's state is %+v, want %d failed", z, tt.failed)
			}
			if z := zones[Internet]; z.Failed != 0 || z.Queries == 0 {
				t.Errorf("the other zone's state is %+v", z)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	r := start(t)
	tests := []struct {
		name      string
		zone      string
		behaviour Behaviour
		want      string
	}{
		{"unknown zone", "nowhere.", Behaviour{}, `zone "nowhere.": not served here`},
		{"unknown failure", LAN, Behaviour{Failure: "explode"}, `failure "explode": must be`},
		{"negative delay", LAN, Behaviour{Delay: -1}, "must not be negative"},
		{"more than all", LAN, Behaviour{Part: 1.5}, "part 1.5: must be from 0 to 1"},
		{"unknown transport", LAN, Behaviour{Over: "quic"}, `over "quic": must be "udp", "tcp" or empty`},
		{"negative rate", LAN, Behaviour{Rate: -1}, "rate -1: must not be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := r.Set(t.Context(), tt.zone, tt.behaviour)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestClients has the zone fail for one client alone, and then for all but one.
func TestClients(t *testing.T) {
	r := start(t)
	me, you := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	wrong, late := Behaviour{Failure: ServFail}, Behaviour{Delay: time.Millisecond}
	steps := []struct {
		name      string
		behaviour Behaviour
		clients   []netip.Addr
		want      string
	}{
		{"another client", wrong, []netip.Addr{you}, "NOERROR"},
		{"both", wrong, []netip.Addr{you, me}, "SERVFAIL"},
		{"the zone well", Behaviour{}, nil, "SERVFAIL"},
		{"this one well", Behaviour{}, []netip.Addr{me}, "NOERROR"},
		{"the zone wrong", wrong, nil, "SERVFAIL"},
		{"this one only late", late, []netip.Addr{me}, "NOERROR"},
		{"no word of this one", Behaviour{}, []netip.Addr{me}, "SERVFAIL"},
	}
	for _, s := range steps {
		if err := r.Set(t.Context(), LAN, s.behaviour, s.clients...); err != nil {
			t.Fatal(err)
		}
		if got, _ := r.ask("udp", "nas.lan.", 5*time.Second); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
	}
}

// TestPart has a part of the queries fail: neither none nor all.
func TestPart(t *testing.T) {
	wrong := 0
	for range 2000 {
		if (Behaviour{Failure: ServFail, Part: 0.3}).drawn(UDP).Failure != None {
			wrong++
		}
	}
	if wrong < 450 || wrong > 750 { // 600 +- seven standard deviations
		t.Errorf("%d of 2000 fail, want about 600", wrong)
	}
}

// TestNSID asks for the server's name, and does not.
func TestNSID(t *testing.T) {
	s := &Server{nsid: "n1"}
	asks := new(dns.Msg).SetQuestion("nas.lan.", dns.TypeA)
	plain := new(dns.Msg).SetReply(asks)
	s.identify(plain, asks)
	if plain.IsEdns0() != nil {
		t.Error("named without being asked")
	}
	asks.SetEdns0(1232, false)
	asks.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}
	named := new(dns.Msg).SetReply(asks)
	s.identify(named, asks)
	opt := named.IsEdns0()
	if opt == nil || len(opt.Option) != 1 || opt.Option[0].String() != "6e31" {
		t.Errorf("unexpected EDNS %v", opt)
	}
}

// TestLarge asks for a large answer over both transports: over UDP it is cut to
// what the asker takes, and says so (RFC 2181 section 9).
func TestLarge(t *testing.T) {
	r := start(t)
	for _, tt := range []struct {
		network   string
		size      uint16 // 0: no EDNS
		truncated bool
	}{{"udp", 0, true}, {"udp", 1232, true}, {"udp", 4096, false}, {"tcp", 1232, false}} {
		m := new(dns.Msg)
		m.SetQuestion(Large, dns.TypeTXT)
		if tt.size > 0 {
			m.SetEdns0(tt.size, false)
		}
		c := dns.Client{Net: tt.network, Timeout: 5 * time.Second, UDPSize: 4096}
		answer, _, err := c.Exchange(m, r.at)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Truncated != tt.truncated || (len(answer.Answer) == 0) != tt.truncated {
			t.Errorf("%s of %d bytes: truncated %v with %d records, want truncated %v", tt.network, tt.size,
				answer.Truncated, len(answer.Answer), tt.truncated)
		}
		if limit := max(int(tt.size), dns.MinMsgSize); tt.network == "udp" && answer.Len() > limit {
			t.Errorf("an answer over UDP has %d bytes, more than %d", answer.Len(), limit)
		}
	}
}

// TestRunEnds shows that the end of the context is no error, also while an
// answer is being held back, and that a second server on the port is one.
func TestRunEnds(t *testing.T) {
	r := start(t)
	if err := r.Set(t.Context(), LAN, Behaviour{Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.ask("udp", "nas.lan.", 50*time.Millisecond); got != "" {
		t.Errorf("an answer that is an hour late: %q", got)
	}
	second := Config{Listen: []netip.AddrPort{netip.MustParseAddrPort(r.at)}, Control: r.Socket + "2"}
	if err := Run(t.Context(), second); err == nil || !strings.Contains(err.Error(), r.at) {
		t.Errorf("error %v of a second server, want one that names %s", err, r.at)
	}
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("unexpected error %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the server did not end with its context")
	}
	if _, err := r.Zones(t.Context()); err == nil {
		t.Error("the ended server still answers")
	}
}
