package lab_test

import (
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/topology"
)

// grayBound is a bound on a leaving for gray failure: ten times the median
// that the design allows at 30 % bad answers. The log has the figures.
const grayBound = 150 * time.Second

// TestGray has resolvers that answer, but late or wrongly or only at times, at
// the default pace of the checks.
func TestGray(t *testing.T) {
	lab := network(t, topology.Options{Switchable: true}, func(_ int, c tree) {
		for _, check := range service(c, 0)["checks"].([]any) {
			delete(check.(tree), "interval")
			delete(check.(tree), "timeout")
		}
	})
	settled(t, lab)
	pass(t, 7*time.Second) // the baselines become known
	faults := []struct {
		name string
		authority.Behaviour
	}{
		{"200 ms on every answer", authority.Behaviour{Delay: 200 * time.Millisecond}},
		{"1.8 s on every answer", authority.Behaviour{Delay: 1800 * time.Millisecond}},
		{"300 ms on 30 %", authority.Behaviour{Delay: 300 * time.Millisecond, Part: 0.3}},
		{"SERVFAIL on 60 %", authority.Behaviour{Failure: authority.ServFail, Part: 0.6}},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			client, seen := asking(t, lab, 100), watch(t, lab)
			n := lab.Nodes[0]
			covered(t, lab, func() {
				start := time.Now()
				must(t, n.Behave(t.Context(), f.Behaviour))
				gone := leaves(t, seen, n, start)
				stance(t, "withdrawn", n)
				t.Logf("next hop gone after %v", gone)
			})
			reported(t, client, "one node of three")
			start := time.Now()
			must(t, n.Behave(t.Context(), authority.Behaviour{}))
			serving(t, lab)
			t.Logf("back after %v", time.Since(start).Round(time.Millisecond))
		})
	}
	t.Run("5 % slow", func(t *testing.T) { fewSlow(t, lab) })
	t.Run("all slow", func(t *testing.T) { allSlow(t, lab) })
	t.Run("accepts and never answers", func(t *testing.T) {
		n := lab.Nodes[0]
		must(t, n.Behave(t.Context(), authority.Behaviour{Failure: authority.Drop}))
		says(t, n, "dead", func(s control.Service) bool { return s.Level == "dead" && s.Stance == "withdrawn" })
		announced(t, lab, others(lab, n)...)
		must(t, n.Behave(t.Context(), authority.Behaviour{}))
		serving(t, lab)
	})
}

// leaves waits longer than usual for a next hop to go.
func leaves(t *testing.T, seen <-chan topology.RouteEvent, n *topology.Node, start time.Time) time.Duration {
	t.Helper()
	must(t, topology.Within(t.Context(), grayBound, n.ShortName+" leave", func() (bool, string) {
		st, _ := status(t, n)
		return st.Services[0].Stance != "announced", st.Services[0].Reason
	}))
	return moved(t, seen, n, false, start)
}

// fewSlow has every node be slow at times, which is nobody's fault.
func fewSlow(t *testing.T, lab *topology.Lab) {
	for _, n := range lab.Nodes {
		must(t, n.Behave(t.Context(), authority.Behaviour{Delay: 200 * time.Millisecond, Part: 0.05}))
	}
	never(t, lab.Router, anycast4, func() { pass(t, 10*time.Second) })
	for _, n := range lab.Nodes {
		must(t, n.Behave(t.Context(), authority.Behaviour{}))
	}
	serving(t, lab)
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
		for _, n := range lab.Nodes {
			must(t, n.Behave(t.Context(), authority.Behaviour{}))
		}
		serving(t, lab)
	})
	lossless(t, client, 300)
}
