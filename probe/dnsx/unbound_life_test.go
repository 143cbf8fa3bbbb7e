package dnsx

import (
	"context"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"recuse/probe"
)

// watch runs a check with short times against p and returns its reports.
func watch(t *testing.T, p probe.Prober) <-chan probe.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reports := make(chan probe.Report, 100_000)
	c := probe.Check{
		Name: "path", Interval: 100 * time.Millisecond, Timeout: 300 * time.Millisecond,
		FastInterval: 50 * time.Millisecond,
		Rules:        probe.Rules{Fall: 3, Rise: 2, SilentAfter: time.Second},
	}
	r := probe.NewRunner(c, p, probe.NewBudget(), func(r probe.Report) { reports <- r })
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return reports
}

// awaitLevel returns the first report at a level.
func awaitLevel(t *testing.T, reports <-chan probe.Report, l probe.Level) probe.Report {
	t.Helper()
	for end := time.After(6 * patience); ; {
		select {
		case r := <-reports:
			if r.Verdict.Level == l {
				return r
			}
		case <-end:
			t.Fatalf("never %v", l)
		}
	}
}

// TestUnboundLife proves against a real resolver that one whose path hangs is
// sick and never dead, one that drops UDP is sick with that reason, and one
// that is stopped is dead; directly and on a service address.
func TestUnboundLife(t *testing.T) {
	if !isolate(t, "unbound", "nft") {
		return
	}
	// The zone's authority drops everything.
	sh(t, "ip addr add 127.0.0.9/8 dev lo")
	listen(t, "127.0.0.9:5300")
	hanging := "  do-not-query-localhost: no\n  qname-minimisation: no\n  identity: box1\n  domain-insecure: hang\n" +
		"stub-zone:\n  name: hang\n  stub-addr: 127.0.0.9@5300\nserver:"
	resolver := Server{Net: "udp", Addr: netip.MustParseAddrPort(resolver)}
	process := unbound(t, hanging, "127.0.0.1", service)
	eventually(t, prober(t, local(resolver)), probe.Passed)
	for _, tt := range []struct {
		name string
		make func(name string) probe.Prober
	}{
		{"server", func(name string) probe.Prober { return prober(t, Config{Server: resolver, Name: name}) }},
		{"service path", func(name string) probe.Prober {
			return path(t, PathConfig{Addresses: []netip.Addr{netip.MustParseAddr(service)}, Question: Config{Name: name}})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reports := watch(t, tt.make("{random}.hang"))
			awaitLevel(t, reports, probe.Sick)
			for end := time.After(5 * time.Second); ; {
				select {
				case r := <-reports:
					if r.Verdict.Level == probe.Dead {
						t.Fatalf("dead: %s", r.Verdict.Reason)
					}
					continue
				case <-end:
				}
				break
			}
			r := <-reports
			if !strings.Contains(r.Verdict.Reason, "; ") || !strings.Contains(r.Verdict.Reason, "answers id.server CH TXT") {
				t.Errorf("reason %q", r.Verdict.Reason)
			}
			t.Log(r.Verdict.Reason)
		})
	}
	t.Run("UDP is dropped", func(t *testing.T) {
		reports := watch(t, prober(t, Config{Server: resolver, Name: "{random}.lan"}))
		awaitLevel(t, reports, probe.OK)
		sh(t, "nft add table ip t")
		sh(t, "nft add chain ip t in { type filter hook input priority 0 ; }")
		sh(t, "nft add rule ip t in udp dport 53 drop")
		for {
			r := awaitLevel(t, reports, probe.Sick)
			if strings.HasSuffix(r.Verdict.Reason, "; answers over TCP, not over UDP: rate limit or loss") {
				break
			}
		}
		sh(t, "nft delete table ip t")
		awaitLevel(t, reports, probe.OK)
		signal(t, process, syscall.SIGSTOP)
		awaitLevel(t, reports, probe.Dead)
		signal(t, process, syscall.SIGCONT)
		awaitLevel(t, reports, probe.OK)
	})
}
