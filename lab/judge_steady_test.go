package lab_test

import (
	"slices"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// TestSteady has nothing happen to a node that serves, and nothing to one whose
// resolver is dead: neither says a word to the router.
func TestSteady(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		quiet(t, network(t, topology.Options{Router: router, Nodes: 2, BFD: &patientBFD},
			func(_ int, c tree) { unhurried(c) }), 30*time.Second)
	})
}

// quiet watches the first node, which serves, and the second, which is down, for
// a time: no UPDATE on the wire by the router's count and by tcpdump, the same
// sessions, no line in a log, no change of the route.
func quiet(t testing.TB, lab *topology.Lab, d time.Duration) {
	up, down := lab.Nodes[0], lab.Nodes[1]
	serving(t, lab)
	must(t, down.Resolver.Kill())
	reason(t, down, "connection refused")
	announced(t, lab, up)
	says(t, up, "that all its checks have risen", func(s control.Service) bool {
		return !slices.ContainsFunc(s.Checks, func(c control.Check) bool { return c.Level != "ok" })
	})
	never(t, lab.Router, anycast4, func() {
		var wires []*wire
		var before []ties
		var logs []int
		for _, n := range lab.Nodes {
			wires, logs = append(wires, capture(t, n)), append(logs, len(n.Agent.Log()))
			before = append(before, tied(t, lab.Router, n))
		}
		pass(t, d)
		for i, n := range lab.Nodes {
			untouched(t, lab.Router, n, before[i])
			if tail := n.Agent.Log()[logs[i]:]; tail != "" {
				t.Errorf("%s logged %s", n.ShortName, tail)
			}
			// The keepalives say that the session was seen.
			for _, m := range wires[i].sent(func(l []message) bool { return count(l, "keepalive") >= 2 }) {
				if m.Kind != "keepalive" {
					t.Errorf("%s sent %+v", n.ShortName, m)
				}
			}
		}
	})
}
