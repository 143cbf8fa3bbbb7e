package dnsx

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"recuse/probe"
	"recuse/probe/probetest"
	"recuse/probe/resulttest"
)

// TestUnboundSecure proves against a real resolver, over TLS and over HTTPS
// (which unbound speaks in version 2 only): the right certificate and the right
// zone, the wrong one of either, a resolver that hangs, and that is killed.
func TestUnboundSecure(t *testing.T) {
	if !isolate(t, "unbound") {
		return
	}
	ours := probetest.NewAuthority(t)
	cert := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"}})
	pem, key := probetest.Files(t, cert)
	resolver := unbound(t, fmt.Sprintf("  tls-service-pem: %q\n  tls-service-key: %q\n", pem, key),
		"127.0.0.1@853", "127.0.0.1@443")
	var good []*Prober
	for _, text := range []string{"tls://127.0.0.1", "https://127.0.0.1/dns-query"} {
		server, err := ParseServer(text)
		if err != nil {
			t.Fatal(err)
		}
		c := local(server)
		c.Trust = probe.Trust{CA: ours.PEM(), ServerName: "dns.example"}
		good = append(good, prober(t, c))
		got := eventually(t, good[len(good)-1], probe.Passed)
		wantSecure(t, got, probe.Passed, "NXDOMAIN", cert.Leaf.NotAfter)
		if got.Note() != "certificate good for 10 days" {
			t.Errorf("%s: got %q", text, got.Note())
		}
		zone := c
		zone.SOA = "example"
		wantSecure(t, prober(t, zone).Probe(resulttest.Within(t, patience)), probe.Wrong,
			"NXDOMAIN from zone lan. instead of example.", cert.Leaf.NotAfter)
		c.Trust.ServerName = "web.example"
		wantSecure(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Wrong,
			"certificate is not for web.example but for dns.example", cert.Leaf.NotAfter)
	}
	signal(t, resolver, syscall.SIGSTOP)
	for _, p := range good {
		got := p.Probe(resulttest.Within(t, brief))
		resulttest.Want(t, got, probe.Silent, "timeout", false)
		if got.RTT() > brief+5*time.Second {
			t.Errorf("the timeout took %v", got.RTT())
		}
	}
	signal(t, resolver, syscall.SIGKILL)
	for _, p := range good {
		eventually(t, p, probe.Refused)
	}
}
