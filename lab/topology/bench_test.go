package topology_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// BenchmarkLeave measures how long a node's next hop stays in the router's
// kernel after a fault at a random phase of its checks. Beside the faults
// stands the router's floor: the link set down by hand, which the agent hears
// of at once and answers with a bare withdrawal. Run it with -benchtime 20x.
func BenchmarkLeave(b *testing.B) {
	faults := []struct {
		name         string
		fault, mends func(*topology.Node) error
	}{
		{"withdrawn", linkDown, linkUp},
		{"killed", func(n *topology.Node) error { return n.Resolver.Kill() },
			func(n *topology.Node) error { return n.Resolver.Start() }},
		{"stopped", func(n *topology.Node) error { return n.Resolver.Stop() },
			func(n *topology.Node) error { return n.Resolver.Cont() }},
	}
	for _, router := range []string{topology.FRR, topology.BIRD} {
		lab := labtest.Start(b, topology.Options{Router: router, Configure: quick})
		for _, f := range faults {
			b.Run(router+"/"+f.name, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					took = append(took, leaveOnce(b, lab, f.fault, f.mends))
				}
				slices.Sort(took)
				b.ReportMetric(0, "ns/op") // of the whole round, which says nothing
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-median")
				b.ReportMetric(took[len(took)-1].Seconds()*1000, "ms-max")
			})
		}
		if err := lab.Close(); err != nil {
			b.Error(err)
		}
	}
}

// leaveOnce lets the second node leave and come back.
func leaveOnce(b *testing.B, lab *topology.Lab, fault, mends func(*topology.Node) error) time.Duration {
	b.Helper()
	n := lab.Nodes[1]
	if err := lab.WaitAnnounced(b.Context(), announceWithin, lab.Nodes...); err != nil {
		b.Fatal(err)
	}
	phase := time.NewTimer(rand.N(time.Second))
	<-phase.C
	took := leaving(b, lab, n, func() error { return fault(n) })
	if err := mends(n); err != nil {
		b.Fatal(err)
	}
	return took
}

// linkDown and linkUp are an operator's hand on the service's link.
func linkDown(n *topology.Node) error { return n.LinkDown(topology.AgentLink) }

func linkUp(n *topology.Node) error { return n.LinkUp(topology.AgentLink) }

// BenchmarkUp measures how long a lab of three nodes takes to come up, agents
// started, and to be gone again.
func BenchmarkUp(b *testing.B) {
	for _, router := range []string{topology.FRR, topology.BIRD} {
		b.Run(router, func(b *testing.B) {
			var up, down time.Duration
			for b.Loop() {
				start := time.Now()
				lab := labtest.Start(b, topology.Options{Router: router})
				up += time.Since(start)
				start = time.Now()
				if err := lab.Close(); err != nil {
					b.Fatal(err)
				}
				down += time.Since(start)
			}
			b.ReportMetric(up.Seconds()*1000/float64(b.N), "ms-up")
			b.ReportMetric(down.Seconds()*1000/float64(b.N), "ms-down")
		})
	}
}
