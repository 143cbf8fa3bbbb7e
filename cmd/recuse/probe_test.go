package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recuse/agent"
	"recuse/probe"
)

// TestProbeCodes asks a port that is open and one that is closed.
func TestProbeCodes(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shut, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := shut.Close(); err != nil {
		t.Fatal(err)
	}
	file := func(address, more string) string {
		path := filepath.Join(t.TempDir(), "recuse.yaml")
		text := "bgp: {asn: 65011, peers: [{address: 198.51.100.1, asn: 65000}]}\n" +
			"services:\n  - addresses: [192.0.2.53/32]\n    checks:\n" +
			"      - {name: port, tcp: {address: '" + address + "'}, interval: 100ms" + more + "}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open, closed := l.Addr().String(), shut.Addr().String()
	side := "}\n      - {name: side, tcp: {address: '" + closed + "'}, failure: info"
	for name, tt := range map[string]struct {
		args []string
		want int
	}{
		"passes":           {[]string{"-c", file(open, ""), "--count", "2"}, exitOK},
		"refused":          {[]string{"-c", file(closed, "")}, exitProbeFailed},
		"for information":  {[]string{"-c", file(open, side)}, exitOK},
		"no probe at all":  {[]string{"-c", file(open, ""), "--count", "0"}, exitConfig},
		"no such file":     {[]string{"-c", "/nowhere/x.yaml"}, exitConfig},
		"an argument more": {[]string{"-c", file(open, ""), "port"}, exitConfig},
	} {
		if got := run(append([]string{"probe"}, tt.args...)); got != tt.want {
			t.Errorf("%s: got exit code %d, want %d", name, got, tt.want)
		}
	}
}

// TestProbeText reads what people read.
func TestProbeText(t *testing.T) {
	var sum sums
	var out bytes.Buffer
	at := time.Now()
	for i, cause := range []probe.Cause{probe.Passed, probe.Passed, probe.Silent} {
		s := agent.Sample{Service: "dns", Check: "local-name", Result: probe.Result{Sent: at,
			Done: at.Add(time.Duration(i+1) * 1500 * time.Microsecond), Cause: cause, Outcome: "NXDOMAIN"}}
		if cause == probe.Silent {
			s.Result.Outcome, s.Life = "timeout", "still answers id.server CH TXT"
		}
		printSample(&out, s)
		sum.add(s)
	}
	sum.print(&out)
	want := "dns  local-name  passed   NXDOMAIN in 1.5 ms\n" +
		"dns  local-name  passed   NXDOMAIN in 3.0 ms\n" +
		"dns  local-name  silent   timeout in 4.5 ms, still answers id.server CH TXT\n\n" +
		"dns  local-name  2 of 3 passed; median 3.0 ms, worst 3.0 ms\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if !sum.failed || strings.Contains(out.String(), "\t") {
		t.Errorf("failed: %t", sum.failed)
	}
}
