package load

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"

	"recuse/lab/load/stub"
)

// server answers on loopback as its handler says and notes who asked.
type server struct {
	addr netip.AddrPort

	mu    sync.Mutex
	ports map[string]int
}

// serve starts a server that ends with the test.
func serve(t *testing.T, handle func(w dns.ResponseWriter, m *dns.Msg)) *server {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: conn.LocalAddr().(*net.UDPAddr).AddrPort(), ports: map[string]int{}}
	srv := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		s.mu.Lock()
		s.ports[w.RemoteAddr().String()]++
		s.mu.Unlock()
		handle(w, m)
	})}
	done := make(chan error, 1)
	go func() { done <- srv.ActivateAndServe() }()
	t.Cleanup(func() {
		// The socket and not Shutdown, which fails if serving has not begun.
		_ = conn.Close()
		<-done
	})
	return s
}

// dial opens an ordinary socket.
func dial(to netip.AddrPort) (net.Conn, error) {
	return net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
}

// reply makes the answer to m, with an identity if asked for.
func reply(m *dns.Msg, rcode int, node string) *dns.Msg {
	r := new(dns.Msg)
	r.SetRcode(m, rcode)
	if node != "" {
		r.SetEdns0(1232, false)
		r.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: node}}
	}
	return r
}

// send sends an answer; the asker may be gone, which its own test sees.
func send(w dns.ResponseWriter, m *dns.Msg) { _ = w.WriteMsg(m) }

func TestUDP(t *testing.T) {
	tests := []struct {
		name   string
		handle func(w dns.ResponseWriter, m *dns.Msg)
		want   Answer
	}{
		{"answered with identity", func(w dns.ResponseWriter, m *dns.Msg) {
			if m.IsEdns0() == nil || len(m.IsEdns0().Option) != 1 {
				return // a timeout, which fails the test
			}
			send(w, reply(m, dns.RcodeSuccess, "6e31"))
		}, Answer{Outcome: Answered, Node: "n1"}},
		{"answered without identity", func(w dns.ResponseWriter, m *dns.Msg) {
			send(w, reply(m, dns.RcodeNameError, ""))
		}, Answer{Outcome: Answered, Rcode: dns.RcodeNameError}},
		{"failure", func(w dns.ResponseWriter, m *dns.Msg) {
			send(w, reply(m, dns.RcodeServerFailure, "6e32"))
		}, Answer{Outcome: Answered, Rcode: dns.RcodeServerFailure, Node: "n2"}},
		{"silence", func(dns.ResponseWriter, *dns.Msg) {}, Answer{Outcome: Timeout}},
		{"others' answers and noise first", func(w dns.ResponseWriter, m *dns.Msg) {
			_, _ = w.Write([]byte("noise"))
			other := reply(m, dns.RcodeRefused, "")
			other.Id++
			send(w, other)
			other = reply(m, dns.RcodeRefused, "")
			other.Question[0].Name = "other."
			send(w, other)
			send(w, reply(m, dns.RcodeSuccess, "6e33"))
		}, Answer{Outcome: Answered, Node: "n3"}},
		{"its own question back", func(w dns.ResponseWriter, m *dns.Msg) { send(w, m) }, Answer{Outcome: Timeout}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.handle)
			before := time.Now()
			got := ask(s.addr, 300*time.Millisecond, dial, Question{Name: "a.lan.", Type: dns.TypeA})
			tt.want.Server, tt.want.Via, tt.want.Attempts = "127.0.0.1", ViaUDP, 1
			if d := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Answer{}, "Sent", "Ended")); d != "" {
				t.Errorf("unexpected answer (-want +got):\n%s", d)
			}
			if got.Sent.Before(before) || got.Ended.Before(got.Sent) {
				t.Errorf("sent %v, ended %v, begun %v: out of order", got.Sent, got.Ended, before)
			}
			if waited := got.Ended.Sub(got.Sent); tt.want.Outcome == Timeout && waited < 300*time.Millisecond {
				t.Errorf("gave up after %v, before the timeout", waited)
			}
		})
	}
}

func TestUDPRefused(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	addr := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	_ = conn.Close()
	got := ask(addr, 5*time.Second, dial, Question{Name: "a.lan.", Type: dns.TypeA})
	if got.Outcome != Refused || got.Error == "" {
		t.Errorf("answer %+v, want it refused with a reason", got)
	}
}

func TestUDPUnsent(t *testing.T) {
	fail := func(netip.AddrPort) (net.Conn, error) { return nil, net.ErrClosed }
	got := ask(netip.MustParseAddrPort("127.0.0.1:53"), time.Second, fail, Question{Name: "a.", Type: dns.TypeA})
	if got.Outcome != Unsent || !got.Sent.IsZero() || got.Error == "" {
		t.Errorf("answer %+v, want it unsent with a reason", got)
	}
}

// TestRunUDP runs the generator against a server that drops every tenth
// question: the figures must be exactly that.
func TestRunUDP(t *testing.T) {
	var mu sync.Mutex
	n := 0
	s := serve(t, func(w dns.ResponseWriter, m *dns.Msg) {
		mu.Lock()
		n++
		drop := n%10 == 0
		mu.Unlock()
		if !drop {
			send(w, reply(m, dns.RcodeSuccess, "6e31"))
		}
	})
	records, err := Run(t.Context(), Config{
		Rate: 200, Duration: 500 * time.Millisecond, Servers: []netip.AddrPort{s.addr}, Stub: stub.None(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	f := Summarize(records)
	if f.Asked != 100 || f.Lost != 10 || f.Nodes["n1"] != 90 {
		t.Errorf("asked %d, lost %d, answered by n1 %d; want 100, 10, 90", f.Asked, f.Lost, f.Nodes["n1"])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ports) < 95 {
		t.Errorf("%d source ports for 100 questions", len(s.ports))
	}
}
