package dnsx

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// TestParsePlain proves what a question of alive may look like.
func TestParsePlain(t *testing.T) {
	tests := []struct {
		text string
		want plain
		bad  string // a part of the error
	}{
		{text: ". NS", want: plain{". NS", ".", dns.ClassINET, dns.TypeNS}},
		{text: "id.server CH TXT", want: plain{"id.server CH TXT", "id.server.", dns.ClassCHAOS, dns.TypeTXT}},
		{text: " localhost.  in a ", want: plain{"localhost. in a", "localhost.", dns.ClassINET, dns.TypeA}},
		{text: "localhost", bad: "not NAME TYPE"},
		{text: "a b IN A", bad: "not NAME TYPE"},
		{text: "localhost XX A", bad: "not a class"},
		{text: "localhost AXFR", bad: "not a type"},
		{text: "a..b A", bad: "not a domain name"},
		{text: "{random}.lan A", bad: "not a domain name"},
	}
	for _, tt := range tests {
		got, err := parsePlain(tt.text)
		if tt.bad != "" {
			if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%q: error %v, want one with %q", tt.text, err, tt.bad)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
	if _, err := New(Config{Server: Server{Net: "udp", Addr: netip.MustParseAddrPort(resolver)}, Name: "a.lan",
		Alive: []string{". NS", "nonsense"}}); err == nil || !strings.HasPrefix(err.Error(), `alive[1]: "nonsense": `) {
		t.Errorf("error %v, want one that names the question", err)
	}
}

// asking notes the questions that a server was asked.
type asking struct {
	mu   sync.Mutex
	seen []string
}

// note takes a question in.
func (a *asking) note(network string, q *dns.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(strings.Fields(q.Question[0].String()), " ")
	if !q.RecursionDesired {
		text += " -rd"
	}
	a.seen = append(a.seen, network+" "+text)
}

// list returns what was asked so far.
func (a *asking) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

// both starts servers on one loopback port, over UDP and TCP.
func both(t *testing.T, handle func(network string, q *dns.Msg) *dns.Msg) Server {
	t.Helper()
	conn, l := bothPorts(t)
	tcp := serve(t, "tcp", "127.0.0.1", func(q *dns.Msg) *dns.Msg { return handle("tcp", q) },
		func(s *dns.Server) { s.Listener = l })
	scriptedOn(t, conn, func(own *net.UDPConn, q *dns.Msg, from netip.AddrPort) {
		if m := handle("udp", q); m != nil {
			send(t, own, from, m)
		}
	})
	return Server{Net: "udp", Addr: tcp.Addr}
}

// looks asks for every sign and returns what each shows.
func looks(t *testing.T, signs []probe.Sign, d time.Duration) []string {
	t.Helper()
	var all []string
	for _, s := range signs {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		all = append(all, s.Look(ctx))
		cancel()
	}
	return all
}

// TestSigns proves which questions are asked, over what, and that an answer of
// any content shows life.
func TestSigns(t *testing.T) {
	var asked asking
	s := both(t, func(network string, q *dns.Msg) *dns.Msg {
		asked.note(network, q)
		return reply(q, dns.RcodeRefused)
	})
	c := Config{Server: s, Name: "check.lan"}
	signs := prober(t, c).Signs()
	got := looks(t, signs, patience)
	want := []string{"still answers id.server CH TXT", "over TCP: REFUSED", "still answers . NS",
		"still answers localhost. A", "still answers healthcheck.adguardhome.test. A"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected signs (-want +got):\n%s", diff)
	}
	wanted := []string{"udp ;id.server. CH TXT", "tcp ;check.lan. IN A", "udp ;. IN NS -rd",
		"udp ;localhost. IN A", "udp ;healthcheck.adguardhome.test. IN A"}
	if diff := cmp.Diff(wanted, asked.list()); diff != "" {
		t.Errorf("unexpected questions (-want +got):\n%s", diff)
	}
	for i, s := range signs {
		if s.Paid != (i != 1) {
			t.Errorf("sign %d is paid: %v", i, s.Paid)
		}
	}
}

// TestSignsConfigured proves that others are asked where they are named, and
// that a server asked over TCP is asked over nothing else.
func TestSignsConfigured(t *testing.T) {
	tests := []struct {
		name, network string
		alive         []string
		want          []string
	}{
		{"named", "udp", []string{"x.test AAAA"}, []string{"udp ;x.test. IN AAAA", "tcp ;check.lan. IN A"}},
		{"none", "udp", []string{}, []string{"tcp ;check.lan. IN A"}},
		{"over TCP", "tcp", []string{". NS", "x.test A"}, []string{"tcp ;. IN NS -rd", "tcp ;x.test. IN A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked asking
			s := both(t, func(network string, q *dns.Msg) *dns.Msg {
				asked.note(network, q)
				return reply(q, dns.RcodeSuccess)
			})
			s.Net = tt.network
			looks(t, prober(t, Config{Server: s, Name: "check.lan", Alive: tt.alive}).Signs(), patience)
			if diff := cmp.Diff(tt.want, asked.list()); diff != "" {
				t.Errorf("unexpected questions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSignsRateLimit proves that a server which drops UDP and answers the
// check's own question rightly over TCP is said to limit its rate.
func TestSignsRateLimit(t *testing.T) {
	s := both(t, func(network string, q *dns.Msg) *dns.Msg {
		if network == "udp" {
			return nil
		}
		return nxdomain(q, "lan.")
	})
	got := looks(t, prober(t, local(s)).Signs(), brief)
	want := []string{"", "answers over TCP, not over UDP: rate limit or loss", "", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected signs (-want +got):\n%s", diff)
	}
}

// TestSignsNone proves that neither a refusal nor an accepted connection that
// says nothing is a sign of life.
func TestSignsNone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	for _, what := range looks(t, prober(t, local(Server{Net: "udp", Addr: addr})).Signs(), brief) {
		if what != "" {
			t.Errorf("%q was seen", what)
		}
	}
}

// TestLate proves that an answer after the deadline is heard, over each
// transport, and that nothing is where none comes.
func TestLate(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		for _, answers := range []bool{true, false} {
			name := network + " silent"
			if answers {
				name = network + " late"
			}
			t.Run(name, func(t *testing.T) {
				release := make(chan struct{})
				s := both(t, func(_ string, q *dns.Msg) *dns.Msg {
					<-release
					if answers {
						return nxdomain(q, "lan.")
					}
					return nil
				})
				s.Net = network
				res, late := prober(t, local(s)).ProbePatiently(resulttest.Within(t, brief))
				resulttest.Want(t, res, probe.Silent, "timeout", false)
				if late == nil {
					t.Fatal("nobody waits for a late answer")
				}
				close(release)
				if answers {
					checkLate(t, late(resulttest.Within(t, patience)), network)
				} else if got := late(resulttest.Within(t, brief)); got != "" {
					t.Errorf("%q was seen", got)
				}
			})
		}
	}
}

// checkLate checks what was seen of a late answer.
func checkLate(t *testing.T, got, network string) {
	t.Helper()
	end := ": NXDOMAIN"
	if network == "tcp" {
		end = ": an answer over TCP"
	}
	if !strings.HasPrefix(got, "answers after ") || !strings.HasSuffix(got, end) {
		t.Errorf("%q was seen", got)
	}
}

// TestLateAnswered proves that nothing is left to wait for after an answer or a
// refusal.
func TestLateAnswered(t *testing.T) {
	s := serve(t, "udp", "127.0.0.1", inLan)
	if _, late := prober(t, local(s)).ProbePatiently(resulttest.Within(t, patience)); late != nil {
		t.Error("somebody waits for more than the answer")
	}
	gone := listen(t, "127.0.0.1:0")
	addr := addrOf(gone)
	gone.Close()
	if _, late := prober(t, local(Server{Net: "udp", Addr: addr})).ProbePatiently(resulttest.Within(t, patience)); late != nil {
		t.Error("somebody waits for an answer where it was refused")
	}
}

// TestPathSigns proves that each service address is asked, and named, and that a
// late answer from any of them is heard.
func TestPathSigns(t *testing.T) {
	release := make(chan struct{})
	s := both(t, func(_ string, q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype == dns.TypeNS {
			return reply(q, dns.RcodeRefused)
		}
		<-release
		return nxdomain(q, "lan.")
	})
	p := path(t, PathConfig{
		Addresses: []netip.Addr{s.Addr.Addr()}, Port: s.Addr.Port(),
		Question: Config{Name: "{random}.lan", Alive: []string{". NS"}},
	})
	if got := looks(t, p.Signs()[:1], patience); got[0] != "127.0.0.1: still answers . NS" {
		t.Errorf("%q was seen", got[0])
	}
	res, late := p.ProbePatiently(resulttest.Within(t, brief))
	resulttest.Want(t, res, probe.Silent, "127.0.0.1: timeout", false)
	close(release)
	if got := late(resulttest.Within(t, patience)); !strings.HasPrefix(got, "127.0.0.1: answers after ") {
		t.Errorf("%q was seen", got)
	}
}
