package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/agent/config"
	"recuse/netlinkx/netlinktest"
	"recuse/netlinkx/netnstest"
)

// answering is a DNS server that says NXDOMAIN, or after a question of class IN
// nothing at all.
func answering(t *testing.T, hangs bool) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if !hangs || q.Question[0].Qclass == dns.ClassCHAOS {
			_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeNameError))
		}
	})}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}

// closedPort is a TCP port on which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// loaded is a configuration of one service with these checks.
func loaded(t *testing.T, checks string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recuse.yaml")
	text := "bgp: {asn: 65011, peers: [{address: 198.51.100.1, asn: 65000}]}\n" +
		"services:\n  - name: dns\n    addresses: [192.0.2.53/32]\n    checks:\n" + checks
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestProbeAll asks every kind of check, and two of them twice.
func TestProbeAll(t *testing.T) {
	c := loaded(t, fmt.Sprintf(`
      - {name: well, dns: {server: "%s", name: "{random}.lan", rcode: [NXDOMAIN]}, interval: 100ms}
      - {name: hangs, dns: {server: "%s", name: "{random}.lan"}, interval: 100ms, timeout: 50ms}
      - {name: gone, tcp: {address: "%s"}}
      - {name: own, exec: {command: [/bin/sh, -c, "exit 3"]}, failure: info}
`, answering(t, false), answering(t, true), closedPort(t)))
	var got []string
	err := ProbeAll(context.Background(), c, 2, func(s Sample) {
		line := fmt.Sprintf("%s %s %s info=%t", s.Service, s.Check, s.Result.Cause, s.Info)
		if s.Life != "" {
			line += " " + s.Life
		}
		got = append(got, line)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	life := "still answers id.server CH TXT"
	want := []string{"dns gone refused info=false", "dns hangs silent info=false " + life,
		"dns own wrong info=true", "dns well passed info=false"}
	var twice []string
	for _, w := range want {
		twice = append(twice, w, w)
	}
	if diff := cmp.Diff(twice, got); diff != "" {
		t.Errorf("unexpected samples (-want +got):\n%s", diff)
	}
}

// TestProbeAllEnds is interrupted after the first sample.
func TestProbeAllEnds(t *testing.T) {
	c := loaded(t, fmt.Sprintf(`
      - {dns: {server: "%s", rcode: [NXDOMAIN]}, interval: 1h}
`, answering(t, false)))
	ctx, end := context.WithCancel(context.Background())
	seen := 0
	if err := ProbeAll(ctx, c, 1000, func(Sample) { seen++; end() }); err != nil {
		t.Fatal(err)
	}
	if seen != 1 {
		t.Errorf("%d samples", seen)
	}
}

// TestProbeAllPath asks on the service address that the link holds, and not on
// the one that it does not.
func TestProbeAllPath(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	c := loaded(t, `
      - {name: local-name, dns: {server: "127.0.0.1:53", rcode: [NXDOMAIN]}}
`)
	s := &c.Services[0]
	s.Link.Kind = netlinktest.Kind(t)
	if err := netlinktest.NewBox(t, holding(*s)).Raise(); err != nil {
		t.Fatal(err)
	}
	s.Addresses = append(s.Addresses, addr6)
	k := &kernelRun{t: t}
	k.serve()
	defer k.stopServing()
	var got []string
	if err := ProbeAll(context.Background(), c, 1, func(s Sample) {
		got = append(got, fmt.Sprint(s.Check, " ", s.Result.Cause))
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{"local-name passed", "service-path 192.0.2.53 passed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected samples (-want +got):\n%s", diff)
	}
}
