package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recuse/probe"
	"recuse/probe/probetest"
	"recuse/probe/resulttest"
)

// TestProbeTLS proves HTTPS over both versions of HTTP: what is trusted, what
// is said of what is not, and the days of the certificate.
func TestProbeTLS(t *testing.T) {
	ours := probetest.NewAuthority(t)
	cert := ours.Issue(t, probetest.Leaf{Names: []string{"www.example"}})
	old := ours.Issue(t, probetest.Leaf{Names: []string{"www.example"}, From: time.Now().Add(-72 * time.Hour), Until: time.Now().Add(-time.Hour)})
	named := probe.Trust{CA: ours.PEM(), ServerName: "www.example"}
	tests := []struct {
		name    string
		cert    tls.Certificate
		trust   probe.Trust
		cause   probe.Cause
		outcome string
	}{
		{"named", cert, named, probe.Passed, "200 OK"},
		{"by its address", cert, probe.Trust{CA: ours.PEM()}, probe.Wrong, "certificate is not for 127.0.0.1 but for www.example"},
		{"wrong name", cert, probe.Trust{CA: ours.PEM(), ServerName: "dns.example"}, probe.Wrong,
			"certificate is not for dns.example but for www.example"},
		{"unknown authority", cert, probe.Trust{ServerName: "www.example"}, probe.Wrong,
			"certificate is of an authority that is not trusted: CN=test authority"},
		{"pinned", cert, probe.Trust{Pins: []string{probetest.Pin(t, cert)}}, probe.Passed, "200 OK"},
		{"insecure", old, probe.Trust{Insecure: true}, probe.Passed, "200 OK"},
		{"expired", old, named, probe.Wrong, "certificate expired on " + old.Leaf.NotAfter.UTC().Format("2006-01-02 15:04 UTC")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := serve(t, &tt.cert, answer(200, ""))
			got := prober(t, Config{URL: "https://" + at + "/", Trust: tt.trust}).Probe(resulttest.Within(t, patience))
			resulttest.Want(t, got, tt.cause, tt.outcome, true)
			if !got.Expires.Equal(tt.cert.Leaf.NotAfter) {
				t.Errorf("expires %v, want %v", got.Expires, tt.cert.Leaf.NotAfter)
			}
		})
	}
}

// TestProbeVersions proves that the server chooses the version of HTTP, and
// sees the name.
func TestProbeVersions(t *testing.T) {
	ours := probetest.NewAuthority(t)
	cert := ours.Issue(t, probetest.Leaf{Names: []string{"www.example"}})
	seen := make(chan string, 1)
	for _, version := range []string{"HTTP/2.0", "HTTP/1.1"} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			host, _, _ := strings.Cut(r.Host, ":")
			seen <- r.Proto + " " + host + " " + r.TLS.ServerName
		}))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		s.EnableHTTP2 = version == "HTTP/2.0"
		s.StartTLS()
		p := prober(t, Config{URL: s.URL, Trust: probe.Trust{CA: ours.PEM(), ServerName: "www.example"}})
		resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "200 OK", true)
		if got := <-seen; got != version+" www.example www.example" {
			t.Errorf("got %q", got)
		}
		s.Close()
	}
}

// TestProbePlainOnTLS proves what is said of the wrong scheme, both ways.
func TestProbePlainOnTLS(t *testing.T) {
	cert := probetest.NewAuthority(t).Issue(t, probetest.Leaf{})
	resulttest.Want(t, prober(t, Config{URL: "http://" + serve(t, &cert, answer(200, ""))}).Probe(resulttest.Within(t, patience)),
		probe.Wrong, "400 Bad Request", true)
	resulttest.Want(t, prober(t, Config{URL: "https://" + serve(t, nil, answer(200, ""))}).Probe(resulttest.Within(t, patience)),
		probe.Wrong, "the server does not speak TLS", true)
}

// TestProbeFresh proves that no connection outlives its probe: a listener that
// is gone is seen by the next one, and nothing is left behind.
func TestProbeFresh(t *testing.T) {
	cert := probetest.NewAuthority(t).Issue(t, probetest.Leaf{})
	for name, c := range map[string]*tls.Certificate{"http": nil, "https": &cert} {
		t.Run(name, func(t *testing.T) {
			var opened, closed atomic.Int32
			s := httptest.NewUnstartedServer(answer(200, "ok"))
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					opened.Add(1)
				case http.StateClosed:
					closed.Add(1)
				}
			}
			if s.EnableHTTP2 = true; c != nil {
				s.TLS = &tls.Config{Certificates: []tls.Certificate{*c}}
				s.StartTLS()
			} else {
				s.Start()
			}
			p := prober(t, Config{URL: s.URL, Body: "ok", Trust: probe.Trust{Insecure: true}})
			for range 5 {
				resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "200 OK", true)
			}
			eventually(t, "every connection is closed", func() bool { return opened.Load() == 5 && closed.Load() == 5 })
			s.Close()
			resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Refused, "connection refused", false)
			noneLeft(t)
		})
	}
}

// TestProbeTimeoutLeavesNothing proves the same of probes that ran out of time,
// in each phase of a connection.
func TestProbeTimeoutLeavesNothing(t *testing.T) {
	cert := probetest.NewAuthority(t).Issue(t, probetest.Leaf{})
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, url := range map[string]string{
		"http": "http://" + serve(t, nil, hang), "https": "https://" + serve(t, &cert, hang),
		"handshake": "https://" + raw(t, "", true),
	} {
		t.Run(name, func(t *testing.T) {
			p := prober(t, Config{URL: url, Trust: probe.Trust{Insecure: true}})
			got := p.Probe(resulttest.Within(t, brief))
			resulttest.Want(t, got, probe.Silent, "timeout", false)
			if got.RTT() < brief*9/10 {
				t.Errorf("waited for %v of %v", got.RTT(), brief)
			}
			noneLeft(t)
		})
	}
}

// TestProbeEnded proves that a probe ends with its context and shows nothing.
func TestProbeEnded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	at := serve(t, nil, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	resulttest.Want(t, prober(t, Config{URL: "http://" + at}).Probe(ctx), probe.Unmade, "the probe was ended", false)
	noneLeft(t)
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); ; {
		if ok() {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// noneLeft waits until no goroutine of a client is left.
func noneLeft(t *testing.T) {
	t.Helper()
	eventually(t, "no goroutine of a client is left", func() bool {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		for _, client := range []string{"net/http.(*persistConn)", "ClientConn)", "net/http.(*Transport)", "web.(*Prober)"} {
			if strings.Contains(stacks, client) {
				return false
			}
		}
		return true
	})
}
