package lab_test

import (
	"testing"
	"time"

	"recuse/lab/authority"
	"recuse/lab/topology"
)

// grayBound is a bound on a leaving for gray failure: ten times the median
// that the design allows at 30 % bad answers. The log has the figures.
const grayBound = 150 * time.Second

// TestGray has resolvers that answer, but late or wrongly or only at times. A
// node that was slow comes back after as many good answers as it takes to weigh
// up its verdict, some forty: so they are repaired together.
func TestGray(t *testing.T) {
	t.Parallel() // with TestHold and TestReload: they mostly wait
	lab := network(t, topology.Options{Switchable: true}, func(_ int, c tree) {
		for _, check := range service(c, 0)["checks"].([]any) {
			delete(check.(tree), "timeout")
		}
	})
	settled(t, lab)
	n1, n2 := lab.Nodes[0], lab.Nodes[1]
	gray := func(name string, n *topology.Node, b authority.Behaviour) {
		t.Run(name, func(t *testing.T) { goesGray(t, lab, n, b) })
	}
	gray("SERVFAIL on 60 %", n1, authority.Behaviour{Failure: authority.ServFail, Part: 0.6})
	repaired(t, lab)
	gray("1.8 s on every answer", n1, authority.Behaviour{Delay: 1800 * time.Millisecond})
	repaired(t, lab)
	gray("200 ms on every answer", n2, authority.Behaviour{Delay: 200 * time.Millisecond})
	gray("300 ms on 30 %", n1, authority.Behaviour{Delay: 300 * time.Millisecond, Part: 0.3})
	repaired(t, lab)
	t.Run("5 % slow", func(t *testing.T) { fewSlow(t, lab) })
	t.Run("all slow", func(t *testing.T) { allSlow(t, lab) })
}

// goesGray changes how one node's resolver answers: the node leaves, and no
// question stays without an answer.
func goesGray(t *testing.T, lab *topology.Lab, n *topology.Node, b authority.Behaviour) {
	client, seen := asking(t, lab, 100), watch(t, lab)
	covered(t, lab, func() {
		start := time.Now()
		must(t, n.Behave(t.Context(), b))
		gone := leaves(t, seen, n, start)
		stance(t, "withdrawn", n)
		t.Logf("next hop gone after %v", gone)
	})
	if f := reported(t, client, "one node is gray"); f.Lost > 0 {
		t.Errorf("%d questions lost, though every node answers all", f.Lost)
	}
}

// repaired has all resolvers answer well, and all nodes come back.
func repaired(t *testing.T, lab *topology.Lab) {
	t.Helper()
	start := time.Now()
	for _, n := range lab.Nodes {
		must(t, n.Behave(t.Context(), authority.Behaviour{}))
	}
	serving(t, lab)
	t.Logf("all back after %v", time.Since(start).Round(time.Millisecond))
}

// leaves waits longer than usual for a next hop to go.
func leaves(t *testing.T, seen <-chan topology.RouteEvent, n *topology.Node, start time.Time) time.Duration {
	t.Helper()
	must(t, topology.Within(t.Context(), grayBound, n.ShortName+" leave", func() (bool, string) {
		st, err := glance(t, n)
		must(t, err)
		return st.Services[0].Stance != "announced", st.Services[0].Reason
	}))
	return moved(t, seen, n, false, start)
}

// fewSlow has every node be slow at times, which is nobody's fault.
func fewSlow(t *testing.T, lab *topology.Lab) {
	for _, n := range lab.Nodes {
		must(t, n.Behave(t.Context(), authority.Behaviour{Delay: 200 * time.Millisecond, Part: 0.05}))
	}
	never(t, lab.Router, anycast4, func() { pass(t, 6*time.Second) })
	repaired(t, lab)
}

// allSlow has all nodes be slow: all are second choice and serve.
func allSlow(t *testing.T, lab *topology.Lab) {
	client := asking(t, lab, 100)
	covered(t, lab, func() {
		for _, n := range lab.Nodes {
			must(t, n.Behave(t.Context(), authority.Behaviour{Delay: 200 * time.Millisecond}))
		}
		stance(t, "depreferred", lab.Nodes...)
		announced(t, lab, lab.Nodes...)
		pass(t, 2*time.Second) // longer than yield_wait
		stance(t, "depreferred", lab.Nodes...)
		announced(t, lab, lab.Nodes...)
	})
	lossless(t, client, 300)
}
