package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestBudget reads the table of a small configuration.
func TestBudget(t *testing.T) {
	conf, err := load(fileWith(t, "  router_id: 198.51.100.11\n  peers:\n"+
		"    - {address: 198.51.100.1, asn: 65000, bfd: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := printBudget(&out, conf, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"service dns, check local-name",
		"server hangs 1.65s 5m1.65s interval 1s + over 50ms + 2 x fast_interval 50ms + timeout 500ms",
		"node, towards 198.51.100.1",
		"node frozen, unplugged or without power 900ms 5m0.9s 3 x BFD interval 300ms",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if got := run([]string{"budget", "-c", conf.Path, "--ttl", "-1s"}); got != exitConfig {
		t.Errorf("a TTL below 0: exit code %d", got)
	}
}
