package lab_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// TestResolverAtStart has no resolver at the agent's start, then one that
// listens on loopback only, which must never be announced, then a right one.
func TestResolverAtStart(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 1, WithoutResolver: true}, nil)
	n := lab.Nodes[0]
	conf := n.Path("unbound.conf")
	right, err := os.ReadFile(conf)
	must(t, err)
	everywhere := "  interface: 0.0.0.0\n  interface: ::0\n  interface-automatic: yes\n"
	loopback := strings.Replace(string(right), everywhere, "  interface: 127.0.0.1\n", 1)
	if loopback == string(right) {
		t.Fatalf("no such lines in unbound.conf: %s", right)
	}
	never(t, lab.Router, anycast4, func() {
		never(t, lab.Router, anycast6, func() {
			reason(t, n, "connection refused")
			must(t, os.WriteFile(conf, []byte(loopback), 0o600))
			must(t, n.Resolver.Start())
			reason(t, n, "no answer on the service address")
			says(t, n, "healthy on loopback", func(s control.Service) bool { return s.Level == "ok" })
			lasts(t, 2*time.Second, "no route", func() (bool, string) {
				st, code := status(t, n)
				return code == 3 && st.Services[0].Stance == "withdrawn", st.Services[0].Stance
			})
			must(t, n.Resolver.Kill())
		})
	})
	must(t, os.WriteFile(conf, right, 0o600))
	must(t, n.Resolver.Start())
	announced(t, lab, n)
}
