package lab_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/topology"
)

// TestDrain has operators take nodes out and put them back, with clients that
// must not feel it.
func TestDrain(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		file := func(n *topology.Node) string { return n.Path("state/drain") }
		lab := network(t, topology.Options{Router: router}, func(node int, c tree) {
			service(c, 0)["drain_file"] = c["state_dir"].(string) + "/drain"
			if node == 2 {
				service(c, 0)["failback"] = "manual"
			}
		})
		n1, n3 := lab.Nodes[0], lab.Nodes[2]
		settled(t, lab)
		t.Run("outlives the agent", func(t *testing.T) { drainOutlives(t, lab) })
		t.Run("for a time", func(t *testing.T) {
			does(t, n1, "drain", "dns", "--for", "3s", "--reason", "new disk")
			announced(t, lab, others(lab, n1)...)
			says(t, n1, "why it is drained", func(s control.Service) bool {
				return s.Admin == "drained" && strings.Contains(s.Reason, "new disk")
			})
			serving(t, lab)
		})
		t.Run("by file", func(t *testing.T) {
			covered(t, lab, func() {
				must(t, os.WriteFile(file(n1), nil, 0o600))
				announced(t, lab, others(lab, n1)...)
				stance(t, "withdrawn", n1)
				refuses(t, n1, []string{file(n1)}, "undrain", "dns")
				must(t, os.Remove(file(n1)))
				serving(t, lab)
			})
		})
		if router == topology.FRR {
			t.Run("failback by hand", func(t *testing.T) { manual(t, lab, n3) })
		}
		t.Run("alone", func(t *testing.T) { drainAlone(t, lab, file(n1)) })
	})
}

// drainOutlives has a drain stand after its agent was stopped and killed.
func drainOutlives(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	covered(t, lab, func() {
		does(t, n, "drain", "dns", "--reason", "new disk")
		for _, end := range []func(){func() { stop(t, n) }, func() { must(t, n.Agent.Kill()) }} {
			end()
			must(t, n.Agent.Start())
			// Long enough for the checks to pass, which must not matter.
			says(t, n, "drained and healthy", func(s control.Service) bool {
				return s.Admin == "drained" && s.Level == "ok" && strings.Contains(s.Reason, "new disk")
			})
			stay(t, lab, time.Second, others(lab, n)...)
		}
		does(t, n, "undrain", "dns")
		serving(t, lab)
	})
	refuses(t, n, []string{"not drained"}, "undrain", "dns")
}

// manual has a node that left stay second choice until an operator resumes it,
// over a restart of its agent too.
func manual(t *testing.T, lab *topology.Lab, n *topology.Node) {
	must(t, n.Resolver.Kill())
	announced(t, lab, others(lab, n)...)
	must(t, n.Resolver.Start())
	waits := func(s control.Service) bool {
		return s.Stance == "depreferred" && s.Level == "ok" && strings.Contains(s.Reason, "recuse resume dns")
	}
	says(t, n, "that it waits", waits)
	stop(t, n)
	must(t, n.Agent.Start())
	says(t, n, "that it waits", waits)
	pass(t, time.Second)
	announced(t, lab, others(lab, n)...)
	does(t, n, "resume", "dns")
	serving(t, lab)
	refuses(t, n, []string{"not in a hold"}, "resume", "dns")
}

// drainAlone drains a node while no other serves: by command it fails and all
// is as it was, by force it is done and says so, by file it stays second choice
// until others serve.
func drainAlone(t *testing.T, lab *topology.Lab, file string) {
	n1, n2, n3 := lab.Nodes[0], lab.Nodes[1], lab.Nodes[2]
	for _, n := range []*topology.Node{n2, n3} {
		must(t, n.Resolver.Kill())
	}
	announced(t, lab, n1)
	client := asking(t, lab, 100)
	covered(t, lab, func() {
		refuses(t, n1, []string{"no other node is seen to serve dns", "--force"}, "drain", "dns")
		says(t, n1, "as it was", func(s control.Service) bool { return s.Stance == "announced" && s.Admin == "enabled" })
		must(t, os.WriteFile(file, nil, 0o600))
		says(t, n1, "alone", func(s control.Service) bool {
			return s.Stance == "depreferred" && s.Admin == "drained" && strings.Contains(s.Reason, "no other node")
		})
		pass(t, 4*time.Second) // longer than drain_timeout
		stance(t, "depreferred", n1)
		must(t, n2.Resolver.Start())
		announced(t, lab, n2)
		must(t, os.Remove(file))
		announced(t, lab, n1, n2)
	})
	lossless(t, client, 500)
	must(t, n2.Resolver.Kill())
	announced(t, lab, n1)
	does(t, n1, "drain", "dns", "--force")
	announced(t, lab)
	if lab.Router.Kind == topology.FRR { // BIRD tells a node nothing of its own route
		says(t, n1, "that nobody serves", func(s control.Service) bool { return strings.Contains(s.Reason, "NOBODY SERVES") })
	}
	does(t, n1, "undrain", "dns")
	announced(t, lab, n1)
}

// TestHold has a node lose and regain the home zone again and again: the hold
// grows, so that a client meets the flapping node less and less, and loses
// nothing on the way.
func TestHold(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 2}, func(_ int, c tree) {
		service(c, 0)["hold"] = tree{"min": "500ms", "max": "2s"}
	})
	n := lab.Nodes[0]
	settled(t, lab)
	client := askingFor(t, lab, 200, internet())
	var spans []time.Duration
	covered(t, lab, func() {
		for range 4 {
			fails(t, lab, authority.ServFail, n)
			stance(t, "withdrawn", n)
			left := time.Now()
			fails(t, lab, authority.None, n)
			says(t, n, "healthy and held", func(s control.Service) bool {
				return s.Stance == "depreferred" && s.Level == "ok" && s.HoldUntil != nil || s.Stance == "announced"
			})
			serving(t, lab)
			spans = append(spans, time.Since(left).Round(100*time.Millisecond))
		}
	})
	t.Logf("from the leaving to the full return: %v", spans)
	for i, want := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 2 * time.Second} {
		if spans[i] < want-200*time.Millisecond {
			t.Errorf("leaving %d: back after %v, want a hold of %v", i+1, spans[i], want)
		}
	}
	lossless(t, client, 1000)
}
