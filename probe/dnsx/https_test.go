package dnsx

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/probe"
	"recuse/probe/probetest"
	"recuse/probe/resulttest"
)

// startHTTPS starts an HTTPS server on a free loopback port, of HTTP/2 as well
// if two is set.
func startHTTPS(t *testing.T, cert tls.Certificate, two bool, handle http.Handler) (*httptest.Server, Server) {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.EnableHTTP2 = two
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, Server{Net: "https", Addr: s.Listener.Addr().(*net.TCPAddr).AddrPort(), Path: "/dns-query"}
}

// serveHTTPS starts a DNS over HTTPS server. Without a handle it says nothing
// until the client has gone.
func serveHTTPS(t *testing.T, cert tls.Certificate, two bool, handle func(q *dns.Msg) *dns.Msg) Server {
	t.Helper()
	_, s := startHTTPS(t, cert, two, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire, err := io.ReadAll(r.Body)
		q := new(dns.Msg)
		if handle == nil || err != nil || q.Unpack(wire) != nil {
			<-r.Context().Done()
			return
		}
		out, err := handle(q).Pack()
		if err != nil {
			t.Errorf("failed to write an answer: %v", err)
		}
		w.Header().Set("Content-Type", messageType)
		_, _ = w.Write(out)
	}))
	return s
}

// TestProbeHTTPS proves DNS over HTTPS, with the same certificates as TLS.
func TestProbeHTTPS(t *testing.T) {
	secureCases(t, func(t *testing.T, cert tls.Certificate) Server { return serveHTTPS(t, cert, true, inLan) })
}

// TestProbeHTTPSRequest proves what the server is asked, over both versions of
// HTTP (RFC 8484 section 4.1).
func TestProbeHTTPSRequest(t *testing.T) {
	type seen struct{ Proto, Method, URI, Host, Type, Accept, SNI string }
	requests := make(chan seen, 1)
	ours := probetest.NewAuthority(t)
	cert := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"}})
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		requests <- seen{r.Proto, r.Method, r.RequestURI, host, r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.TLS.ServerName}
		wire, _ := io.ReadAll(r.Body)
		q := new(dns.Msg)
		_ = q.Unpack(wire)
		out, _ := inLan(q).Pack()
		w.Header().Set("Content-Type", "Application/DNS-message; charset=x")
		_, _ = w.Write(out)
	})
	for _, proto := range []string{"HTTP/2.0", "HTTP/1.1"} {
		_, s := startHTTPS(t, cert, proto == "HTTP/2.0", handle)
		s.Path = "/q/x"
		c := local(s)
		c.Trust = probe.Trust{CA: ours.PEM(), ServerName: "dns.example"}
		wantSecure(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", cert.Leaf.NotAfter)
		expected := seen{proto, "POST", "/q/x", "dns.example", messageType, messageType, "dns.example"}
		if diff := cmp.Diff(expected, <-requests); diff != "" {
			t.Errorf("unexpected request (-want +got):\n%s", diff)
		}
	}
}

// TestProbeHTTPSAnswers proves what each answer means that is no right one.
func TestProbeHTTPSAnswers(t *testing.T) {
	cert := anyCert(t)
	tests := []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "HTTP 502 Bad Gateway"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		},
			"HTTP 307 Temporary Redirect"},
		{"odd status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(599) }, "HTTP 599"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			`HTTP 200 with "text/html; charset=utf-8" instead of application/dns-message`},
		{"nothing", message(nil), "an answer to another question"},
		{"too much", message(make([]byte, messageMax+1)), "malformed answer"},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", messageType)
			w.Header().Set("Content-Length", "50")
			_, _ = w.Write([]byte("begun"))
		}, "HTTP 200, then "},
	}
	for _, tt := range tests {
		for _, two := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				_, s := startHTTPS(t, cert, two, tt.handle)
				got := prober(t, insecure(s)).Probe(resulttest.Within(t, patience))
				if !strings.HasPrefix(got.Outcome, tt.want) {
					t.Errorf("got %q, want %q", got.Outcome, tt.want)
				}
				wantSecure(t, got, probe.Wrong, got.Outcome, cert.Leaf.NotAfter)
			})
		}
	}
}

// message returns a handler that answers with a message.
func message(wire []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", messageType)
		_, _ = w.Write(wire)
	}
}

// TestProbeHTTPSFresh proves that no connection outlives its probe: a listener
// that is gone is seen by the next one, and nothing is left behind.
func TestProbeHTTPSFresh(t *testing.T) {
	var opened, closed atomic.Int32
	cert := anyCert(t)
	for _, two := range []bool{false, true} {
		opened.Store(0)
		closed.Store(0)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wire, _ := io.ReadAll(r.Body)
			q := new(dns.Msg)
			_ = q.Unpack(wire)
			out, _ := inLan(q).Pack()
			message(out)(w, r)
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				opened.Add(1)
			case http.StateClosed:
				closed.Add(1)
			}
		}
		server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		server.EnableHTTP2 = two
		server.StartTLS()
		s := Server{Net: "https", Addr: server.Listener.Addr().(*net.TCPAddr).AddrPort()}
		p := prober(t, insecure(s))
		for range 5 {
			wantSecure(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", cert.Leaf.NotAfter)
		}
		await(t, "every connection is closed", func() bool { return opened.Load() == 5 && closed.Load() == 5 })
		server.Close()
		resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Refused, "connection refused", false)
		await(t, "no goroutine of a client is left", func() bool {
			buf := make([]byte, 1<<20)
			stacks := string(buf[:runtime.Stack(buf, true)])
			return !strings.Contains(stacks, "net/http.(*persistConn)") && !strings.Contains(stacks, "ClientConn)")
		})
	}
}

// await waits until ok holds.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// TestURL proves what is asked for under which name.
func TestURL(t *testing.T) {
	tests := []struct{ at, path, name, want string }{
		{"10.1.1.1:443", "", "", "https://10.1.1.1/dns-query"},
		{"10.1.1.1:443", "/q", "dns.example", "https://dns.example/q"},
		{"10.1.1.1:8443", "/", "dns.example", "https://dns.example:8443/"},
		{"[2001:db8::1]:443", "/q", "", "https://[2001:db8::1]/q"},
		{"[fe80::1%eth0]:8443", "/q", "", "https://[fe80::1]:8443/q"},
		{"10.1.1.1:443", "/q", "2001:db8::1", "https://[2001:db8::1]/q"},
	}
	for _, tt := range tests {
		q := query{Config: Config{
			Server: Server{Net: "https", Addr: netip.MustParseAddrPort(tt.at), Path: tt.path},
			Trust:  probe.Trust{ServerName: tt.name},
		}}
		if got := q.url(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// BenchmarkSecure measures an answered probe over TLS and over HTTPS, with the
// server's half of the handshake, which is in the same process.
func BenchmarkSecure(b *testing.B) {
	cert := probetest.NewAuthority(b).Issue(b, probetest.Leaf{})
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		b.Fatal(err)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { _ = w.WriteMsg(inLan(q)) })
	s := &dns.Server{Listener: l, Handler: handler}
	go func() { _ = s.ActivateAndServe() }()
	defer s.Shutdown()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire, _ := io.ReadAll(r.Body)
		q := new(dns.Msg)
		_ = q.Unpack(wire)
		out, _ := inLan(q).Pack()
		message(out)(w, r)
	}))
	web.TLS, web.EnableHTTP2 = config, true
	web.StartTLS()
	defer web.Close()
	for network, at := range map[string]net.Addr{"tls": l.Addr(), "https": web.Listener.Addr()} {
		b.Run(network, func(b *testing.B) {
			p, err := New(insecure(Server{Net: network, Addr: at.(*net.TCPAddr).AddrPort()}))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if res := p.Probe(b.Context()); res.Cause != probe.Passed {
					b.Fatalf("got %+v", res)
				}
			}
		})
	}
}
