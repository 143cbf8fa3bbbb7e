package dnsx

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"

	"recuse/probe"
	"recuse/probe/probetest"
	"recuse/probe/resulttest"
)

// serveTLS starts a DNS over TLS server on a free loopback port.
func serveTLS(t *testing.T, host string, cert tls.Certificate, handle func(q *dns.Msg) *dns.Msg) Server {
	t.Helper()
	l, err := tls.Listen("tcp", net.JoinHostPort(host, "0"), &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if m := handle(q); m != nil {
			// A probe that has judged the certificate may be gone by now.
			_ = w.WriteMsg(m)
		}
	})}
	up, ended := make(chan struct{}), make(chan error, 1)
	s.NotifyStartedFunc = func() { close(up) }
	go func() { ended <- s.ActivateAndServe() }()
	<-up
	t.Cleanup(func() {
		_ = s.Shutdown()
		<-ended
	})
	return Server{Net: "tls", Addr: l.Addr().(*net.TCPAddr).AddrPort()}
}

// wantSecure compares a result with what is expected, its times but the
// certificate's apart.
func wantSecure(t *testing.T, got probe.Result, cause probe.Cause, outcome string, expires time.Time) {
	t.Helper()
	expected := probe.Result{Cause: cause, Outcome: outcome, Alive: true, Expires: expires}
	if diff := cmp.Diff(expected, got, cmpopts.IgnoreFields(probe.Result{}, "Sent", "Done")); diff != "" {
		t.Errorf("unexpected result (-want +got):\n%s", diff)
	}
}

// secureCases are what both transports make of a server's certificate.
func secureCases(t *testing.T, serve func(t *testing.T, cert tls.Certificate) Server) {
	ours, other := probetest.NewAuthority(t), probetest.NewAuthority(t)
	good := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"}})
	old := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"},
		From: time.Now().Add(-72 * time.Hour), Until: time.Now().Add(-time.Hour)})
	tests := []struct {
		name    string
		cert    tls.Certificate
		trust   probe.Trust
		cause   probe.Cause
		outcome string
	}{
		{"named", good, probe.Trust{CA: ours.PEM(), ServerName: "dns.example"}, probe.Passed, "NXDOMAIN"},
		{"pinned", good, probe.Trust{Pins: []string{probetest.Pin(t, good)}}, probe.Passed, "NXDOMAIN"},
		{"insecure", old, probe.Trust{Insecure: true}, probe.Passed, "NXDOMAIN"},
		{"no name", good, probe.Trust{CA: ours.PEM()}, probe.Wrong, "certificate is not for 127.0.0.1 but for dns.example"},
		{"another authority", good, probe.Trust{CA: other.PEM(), ServerName: "dns.example"}, probe.Wrong,
			"certificate is of an authority that is not trusted: CN=test authority"},
		{"another key", good, probe.Trust{Pins: []string{probetest.Pin(t, old)}}, probe.Wrong,
			"the server's key is not a pinned one, its pin is " + probetest.Pin(t, good)},
		{"expired", old, probe.Trust{CA: ours.PEM(), ServerName: "dns.example"}, probe.Wrong,
			"certificate expired on " + old.Leaf.NotAfter.UTC().Format("2006-01-02 15:04 UTC")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := local(serve(t, tt.cert))
			c.Trust = tt.trust
			wantSecure(t, prober(t, c).Probe(resulttest.Within(t, patience)), tt.cause, tt.outcome, tt.cert.Leaf.NotAfter)
		})
	}
}

// TestProbeTLS proves DNS over TLS: a certificate that is not right is a wrong
// answer with its reason, and its end is told either way.
func TestProbeTLS(t *testing.T) {
	secureCases(t, func(t *testing.T, cert tls.Certificate) Server { return serveTLS(t, "127.0.0.1", cert, inLan) })
}

// insecure returns the question of most tests to a server over TLS or HTTPS.
func insecure(s Server) Config {
	c := local(s)
	c.Trust = probe.Trust{Insecure: true}
	return c
}

// anyCert returns a certificate that an insecure prober takes.
func anyCert(t *testing.T) tls.Certificate {
	t.Helper()
	return probetest.NewAuthority(t).Issue(t, probetest.Leaf{})
}

// TestProbeTLSFamilies proves the same over IPv6, and that an address in the
// certificate is as good as a name.
func TestProbeTLSFamilies(t *testing.T) {
	ours := probetest.NewAuthority(t)
	cert := ours.Issue(t, probetest.Leaf{Names: []string{"::1", "127.0.0.1"}})
	for _, host := range []string{"127.0.0.1", "::1"} {
		c := local(serveTLS(t, host, cert, inLan))
		c.Trust = probe.Trust{CA: ours.PEM()}
		wantSecure(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", cert.Leaf.NotAfter)
	}
}

// TestProbeTLSAnswers proves that answers over TLS are judged like any other.
func TestProbeTLSAnswers(t *testing.T) {
	cert := anyCert(t)
	servfail := func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) }
	otherName := func(q *dns.Msg) *dns.Msg {
		m := inLan(q)
		m.Question[0].Name = "other.lan."
		return m
	}
	for outcome, handle := range map[string]func(*dns.Msg) *dns.Msg{
		"SERVFAIL": servfail, "an answer to another question": otherName,
	} {
		p := prober(t, insecure(serveTLS(t, "127.0.0.1", cert, handle)))
		wantSecure(t, p.Probe(resulttest.Within(t, patience)), probe.Wrong, outcome, cert.Leaf.NotAfter)
	}
}

// TestProbeTLSOverlap proves that one prober serves many probes at once.
func TestProbeTLSOverlap(t *testing.T) {
	cert := anyCert(t)
	p := prober(t, insecure(serveTLS(t, "127.0.0.1", cert, inLan)))
	ctx := resulttest.Within(t, patience)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { wantSecure(t, p.Probe(ctx), probe.Passed, "NXDOMAIN", cert.Leaf.NotAfter) })
	}
	all.Wait()
}

// TestProbeSecureStrange proves what is said over TLS and HTTPS of servers that
// are not quite there.
func TestProbeSecureStrange(t *testing.T) {
	plain := func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\n")) }
	for _, network := range []string{"tls", "https"} {
		for outcome, handle := range map[string]func(net.Conn){
			"connection closed without an answer": func(net.Conn) {},
			"the server does not speak TLS":       plain,
		} {
			s := Server{Net: network, Addr: greeted(t, handle)}
			got := prober(t, insecure(s)).Probe(resulttest.Within(t, patience))
			resulttest.Want(t, got, probe.Wrong, outcome, true)
		}
		refused := Server{Net: network, Addr: netip.MustParseAddrPort("127.0.0.1:1")}
		resulttest.Want(t, prober(t, insecure(refused)).Probe(resulttest.Within(t, patience)), probe.Refused, "connection refused", false)
		c := insecure(refused)
		c.Local = unassigned
		resulttest.Want(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Unmade,
			"the source address is not on this box (EADDRNOTAVAIL)", false)
	}
}

// greeted starts a TCP server that reads a client's first words, hands the
// connection to reply and then closes it.
func greeted(t *testing.T, reply func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096))
				reply(c)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// mute starts a TCP server that accepts, reads and never says a word.
func mute(t *testing.T) netip.AddrPort {
	t.Helper()
	return greeted(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

// TestProbeSecureSilent proves that a server which accepts and never answers is
// a timeout by the deadline, before the certificate and after it.
func TestProbeSecureSilent(t *testing.T) {
	nothing := func(*dns.Msg) *dns.Msg { return nil }
	at := mute(t)
	for name, s := range map[string]Server{
		"tls": serveTLS(t, "127.0.0.1", anyCert(t), nothing), "https": serveHTTPS(t, anyCert(t), true, nil),
		"tls, no handshake": {Net: "tls", Addr: at}, "https, no handshake": {Net: "https", Addr: at},
	} {
		t.Run(name, func(t *testing.T) {
			got := prober(t, insecure(s)).Probe(resulttest.Within(t, brief))
			got.Expires = time.Time{}
			resulttest.Want(t, got, probe.Silent, "timeout", false)
			if got.RTT() < brief*9/10 {
				t.Errorf("waited for %v of %v", got.RTT(), brief)
			}
		})
	}
}

// TestProbeSecureEnded proves that a probe ends with its context and shows
// nothing then.
func TestProbeSecureEnded(t *testing.T) {
	for _, network := range []string{"tls", "https"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		results := make(chan probe.Result, 1)
		p := prober(t, insecure(Server{Net: network, Addr: mute(t)}))
		go func() { results <- p.Probe(ctx) }()
		cancel()
		resulttest.Want(t, <-results, probe.Unmade, "the probe was ended", false)
	}
}

// TestProbeTLSLate proves that an answer over TLS which comes after the
// deadline is heard.
func TestProbeTLSLate(t *testing.T) {
	release := make(chan struct{})
	s := serveTLS(t, "127.0.0.1", anyCert(t), func(q *dns.Msg) *dns.Msg {
		<-release
		return inLan(q)
	})
	res, late := prober(t, insecure(s)).ProbePatiently(resulttest.Within(t, brief))
	if res.Cause != probe.Silent || late == nil {
		t.Fatalf("got %+v, late %v", res, late != nil)
	}
	close(release)
	if got := late(resulttest.Within(t, patience)); !strings.HasPrefix(got, "answers after ") {
		t.Errorf("got %q", got)
	}
}

// TestSignsSecure proves that the other questions go over the same transport,
// and cost nothing of the budget.
func TestSignsSecure(t *testing.T) {
	handle := func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeRefused) }
	for _, s := range []Server{serveTLS(t, "127.0.0.1", anyCert(t), handle), serveHTTPS(t, anyCert(t), true, handle)} {
		c := insecure(s)
		c.Alive = []string{". NS"}
		signs := prober(t, c).Signs()
		if len(signs) != 1 || signs[0].Paid {
			t.Fatalf("%s: %d questions, %+v", s.Net, len(signs), signs)
		}
		if got := signs[0].Look(resulttest.Within(t, patience)); got != "still answers . NS" {
			t.Errorf("%s: got %q", s.Net, got)
		}
	}
}
