package web

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// patience is the deadline of probes that are answered; none comes near it.
const patience = 10 * time.Second

// brief is the deadline of probes that are meant to time out.
const brief = 200 * time.Millisecond

// serve starts a server on a free loopback port, over TLS if cert is set, and
// returns its address.
func serve(t *testing.T, cert *tls.Certificate, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if cert != nil {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// answer returns a handler of one status and body.
func answer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// prober returns the prober of c.
func prober(t *testing.T, c Config) *Prober {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProbeAnswered proves what each answer means.
func TestProbeAnswered(t *testing.T) {
	fill := func(n int) string { return strings.Repeat(".", n) }
	tests := []struct {
		name    string
		code    int
		body    string
		status  []int
		want    string // text of the body
		cause   probe.Cause
		outcome string
	}{
		{"ok", 200, "", nil, "", probe.Passed, "200 OK"},
		{"other status by default", 204, "", nil, "", probe.Wrong, "204 No Content"},
		{"listed status", 204, "", []int{200, 204}, "", probe.Passed, "204 No Content"},
		{"a listed error passes", 401, "", []int{401}, "", probe.Passed, "401 Unauthorized"},
		{"client error", 404, "", nil, "", probe.Wrong, "404 Not Found"},
		{"server error", 500, "", nil, "", probe.Wrong, "500 Internal Server Error"},
		{"unavailable", 503, "", nil, "", probe.Wrong, "503 Service Unavailable"},
		{"no usual status", 599, "", nil, "", probe.Wrong, "599"},
		{"text", 200, "all is ok here", nil, "ok", probe.Passed, "200 OK"},
		{"text missing", 200, "all is well", nil, "ok", probe.Wrong, `200 OK without "ok" in its first 5120 bytes`},
		{"text, empty body", 200, "", nil, "ok", probe.Wrong, `200 OK without "ok" in its first 5120 bytes`},
		{"text that just fits", 200, fill(5118) + "ok", nil, "ok", probe.Passed, "200 OK"},
		{"text that is cut", 200, fill(5119) + "ok", nil, "ok", probe.Wrong, `200 OK without "ok" in its first 5120 bytes`},
		{"text behind a long page", 200, fill(1<<20) + "ok", nil, "ok", probe.Wrong, `200 OK without "ok" in its first 5120 bytes`},
		{"right text, wrong status", 502, "ok", nil, "ok", probe.Wrong, "502 Bad Gateway"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := serve(t, nil, answer(tt.code, tt.body))
			p := prober(t, Config{URL: "http://" + at + "/", Status: tt.status, Body: tt.want})
			resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), tt.cause, tt.outcome, true)
		})
	}
}

// TestProbeRequest proves what the server is asked.
func TestProbeRequest(t *testing.T) {
	type seen struct{ Method, URI, Host, Agent, Encoding, Connection string }
	requests := make(chan seen, 1)
	at := serve(t, nil, func(_ http.ResponseWriter, r *http.Request) {
		requests <- seen{r.Method, r.RequestURI, r.Host, r.UserAgent(), r.Header.Get("Accept-Encoding"), fmt.Sprint(r.Close)}
	})
	port := at[strings.LastIndex(at, ":"):]
	tests := []struct{ name, url, host string }{
		{"", "http://" + at + "/a?b=c#d", at},
		{"www.example", "http://" + at + "/a?b=c", "www.example" + port},
		{"2001:db8::1", "http://" + at + "/a?b=c", "[2001:db8::1]" + port},
	}
	for _, tt := range tests {
		p := prober(t, Config{URL: tt.url, Trust: probe.Trust{ServerName: tt.name}})
		resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "200 OK", true)
		expected := seen{"GET", "/a?b=c", tt.host, "recuse", "", "true"}
		if diff := cmp.Diff(expected, <-requests); diff != "" {
			t.Errorf("unexpected request (-want +got):\n%s", diff)
		}
	}
}

// TestProbeNoProxy proves that the environment's proxy is not asked.
func TestProbeNoProxy(t *testing.T) {
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	if prober(t, Config{URL: "http://192.0.2.77/"}).transport().Proxy != nil {
		t.Error("a proxy may be asked")
	}
}

// TestProbeRedirect proves that redirects are followed only if asked for, and
// what is said of where they lead.
func TestProbeRedirect(t *testing.T) {
	mux := http.NewServeMux()
	to := func(from, to string) {
		mux.HandleFunc(from, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	to("/once", "/page")
	to("/loop", "/loop")
	to("/4", "/3")
	to("/3", "/2")
	to("/2", "/1")
	to("/1", "/once")
	to("/5", "/4")
	to("/dead", "http://127.0.0.1:1/x")
	to("/hang", "/hangs")
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/page", answer(200, "here"))
	at := serve(t, nil, mux.ServeHTTP)
	tests := []struct {
		path    string
		follow  bool
		status  []int
		allowed time.Duration
		cause   probe.Cause
		outcome string
	}{
		{"/once", false, nil, patience, probe.Wrong, "302 Found to /page"},
		{"/once", false, []int{302}, patience, probe.Passed, "302 Found to /page"},
		{"/once", true, nil, patience, probe.Passed, "200 OK"},
		{"/4", true, nil, patience, probe.Passed, "200 OK"},
		{"/5", true, nil, patience, probe.Wrong, "redirected to http://" + at + "/page: still redirected after 5 redirects"},
		{"/loop", true, nil, patience, probe.Wrong, "redirected to http://" + at + "/loop: still redirected after 5 redirects"},
		{"/dead", true, nil, patience, probe.Wrong, "redirected to http://127.0.0.1:1/x: connection refused"},
		{"/hang", true, nil, brief, probe.Silent, "redirected to http://" + at + "/hangs: timeout"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %v %v", tt.path, tt.follow, tt.status), func(t *testing.T) {
			p := prober(t, Config{URL: "http://" + at + tt.path, Follow: tt.follow, Status: tt.status})
			resulttest.Want(t, p.Probe(resulttest.Within(t, tt.allowed)), tt.cause, tt.outcome, true)
		})
	}
}

// TestProbeNamed proves that a name leads to the address of the URL, through
// redirects too, with no resolver.
func TestProbeNamed(t *testing.T) {
	at := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "http://"+r.Host+"/login", http.StatusSeeOther)
		}
	})
	p := prober(t, Config{URL: "http://" + at + "/", Follow: true, Trust: probe.Trust{ServerName: "www.invalid"}})
	resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "200 OK", true)
}

// TestProbeLookup proves that a name which no resolver knows says nothing of
// the server.
func TestProbeLookup(t *testing.T) {
	got := classify(t.Context(), fmt.Errorf("get: %w", &net.DNSError{Err: "no such host", Name: "www.example", IsNotFound: true}))
	got.Sent, got.Done = time.Now(), time.Now()
	resulttest.Want(t, got, probe.Unmade, "failed to look up www.example: no such host; use an address, and server_name for the name", false)
}

// TestProbeRefused proves that a port without a listener is told at once.
func TestProbeRefused(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1/", "https://127.0.0.1:1/", "http://[::1]:1/"} {
		got := prober(t, Config{URL: url}).Probe(resulttest.Within(t, patience))
		resulttest.Want(t, got, probe.Refused, "connection refused", false)
		if got.RTT() > patience/2 {
			t.Errorf("a refusal took %v", got.RTT())
		}
	}
}

// raw starts a TCP server that reads a request and answers with a text; it then
// hangs up, or waits for the client to.
func raw(t *testing.T, text string, wait bool) string {
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
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, text)
			if wait {
				_, _ = c.Read(make([]byte, 1))
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// TestProbeStrange proves what is said of servers that are not quite there.
func TestProbeStrange(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name, text string
		wait       bool
		body       string
		cause      probe.Cause
		outcome    string // its beginning
		alive      bool
	}{
		{"closes", "", false, "", probe.Wrong, "connection closed without an answer", true},
		{"says nothing", "", true, "", probe.Silent, "timeout", false},
		{"speaks something else", "220 mail.example \x1b[1mESMTP\r\n", false, "", probe.Wrong, `no HTTP answer: malformed HTTP`, true},
		{"ends within the head", ok + "Conte", false, "", probe.Wrong, "no HTTP answer: malformed MIME header", true},
		{"hangs within the head", ok + "Conte", true, "", probe.Silent, "timeout", false},
		{"a head without end", ok + strings.Repeat("A: b\r\n", 20000) + "\r\n", false, "", probe.Wrong,
			"no HTTP answer: server response headers exceeded 65536 bytes", true},
		{"hangs within the body", ok + "\r\nbegun", true, "done", probe.Silent, "200 OK, then timeout", true},
		{"text before it hangs", ok + "\r\nall done", true, "done", probe.Passed, "200 OK", true},
		{"hangs within a body that does not matter", ok + "\r\nbegun", true, "", probe.Passed, "200 OK", true},
		{"body too short", ok + "Content-Length: 99\r\n\r\nbegun", false, "done", probe.Wrong,
			"200 OK, then connection closed without an answer", true},
		{"own words for a status", "HTTP/1.1 500 \x1b[31mAll fine\r\n\r\n", false, "", probe.Wrong, "500 Internal Server Error", true},
		{"a location that does not print", "HTTP/1.1 301 x\r\nLocation: /\xff\x9b\r\n\r\n", false, "", probe.Wrong,
			`301 Moved Permanently to /\xff\x9b`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := prober(t, Config{URL: "http://" + raw(t, tt.text, tt.wait) + "/", Body: tt.body})
			allowed := patience
			if tt.cause == probe.Silent {
				allowed = brief
			}
			got := p.Probe(resulttest.Within(t, allowed))
			if !strings.HasPrefix(got.Outcome, tt.outcome) {
				t.Errorf("got %q, want %q", got.Outcome, tt.outcome)
			}
			resulttest.Want(t, got, tt.cause, got.Outcome, tt.alive)
			if strings.ContainsAny(got.Outcome, "\x1b\r\n") {
				t.Errorf("the outcome is not one line of text: %q", got.Outcome)
			}
		})
	}
}

// TestProbeEndless proves that a page without end costs no more than is asked
// of it.
func TestProbeEndless(t *testing.T) {
	ended := make(chan struct{}, 2)
	at := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		defer func() { ended <- struct{}{} }()
		for page := make([]byte, 4096); ; {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	})
	resulttest.Want(t, prober(t, Config{URL: "http://" + at}).Probe(resulttest.Within(t, patience)), probe.Passed, "200 OK", true)
	<-ended // The connection was closed.
	p := prober(t, Config{URL: "http://" + at, Body: "ok"})
	resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Wrong, `200 OK without "ok" in its first 5120 bytes`, true)
	<-ended
}

// BenchmarkProbe measures one page over HTTP, its server in the same process.
func BenchmarkProbe(b *testing.B) {
	s := httptest.NewServer(answer(200, "ok"))
	defer s.Close()
	p, err := New(Config{URL: s.URL, Body: "ok"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if res := p.Probe(b.Context()); res.Cause != probe.Passed {
			b.Fatalf("got %+v", res)
		}
	}
}
