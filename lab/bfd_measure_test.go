package lab_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"recuse/lab/topology"
)

// rates are the questions a second that are asked while a node is frozen.
var rates = []float64{20, 1000}

// BenchmarkFrozen measures, while clients ask in open loop, how long the next
// hop of a frozen node stays in the router's kernel, and how many questions are
// lost meanwhile. Of the three nodes the first two run recuse and the third
// runs FRR (bgpd and bfdd) in its place; the second and the third are frozen in
// turn, so both have the same router, load and machine. Docs/measurements.md
// has figures of
//
//	make bin/recuse bin/recuse-authority
//	RECUSE_TEST_BIN=$PWD/bin go test -run - -bench Frozen -benchtime 8x -timeout 30m ./lab
func BenchmarkFrozen(b *testing.B) {
	for _, c := range paces {
		for _, router := range []string{topology.FRR, topology.BIRD} {
			name := fmt.Sprintf("%dms/%s", c.bfd.Interval.Milliseconds(), router)
			b.Run(name, func(b *testing.B) { frozen(b, rivals(b, router, c.bfd)) })
		}
	}
}

// subject is a node that is frozen again and again, and what came of it.
type subject struct {
	name string
	node *topology.Node
	gone []time.Duration   // next hop gone after
	lost map[float64][]int // questions, by rate
	late []time.Duration   // the client's own lateness, p99 of each run
}

// rivals raises a lab whose last node announces by FRR.
func rivals(b *testing.B, router string, bfd topology.BFD) *topology.Lab {
	b.Helper()
	lab := network(b, topology.Options{
		Router: router, BFD: &bfd, HoldTime: slowHold, WithoutAgent: true, Addresses: []netip.Prefix{anycast4},
	}, nil)
	last := lab.Nodes[len(lab.Nodes)-1]
	for _, n := range lab.Nodes {
		if n != last {
			must(b, n.Agent.Start())
		}
	}
	must(b, last.AddAddress("lo", anycast4))
	must(b, last.StartFRR(b.Context(), announcer(last, bfd)))
	announced(b, lab, lab.Nodes...)
	return lab
}

// announcer is FRR's configuration on a node: the service address, which the
// loopback interface holds, announced without a look at the service.
func announcer(n *topology.Node, bfd topology.BFD) string {
	ms := bfd.Interval.Milliseconds()
	return fmt.Sprintf(`bfd
 profile p
  transmit-interval %d
  receive-interval %d
  detect-multiplier %d
 exit
exit
!
router bgp %d
 bgp router-id %s
 no bgp ebgp-requires-policy
 neighbor 10.60.0.1 remote-as %d
 neighbor 10.60.0.1 timers connect 2
 neighbor 10.60.0.1 bfd
 neighbor 10.60.0.1 bfd profile p
 address-family ipv4 unicast
  network %s
 exit-address-family
exit
`, ms, ms, bfd.Multiplier, n.ASN, n.V4, topology.RouterASN, anycast4)
}

// frozen freezes both kinds of node in turn, under each rate of questions, and
// reports the medians and the worst.
func frozen(b *testing.B, lab *topology.Lab) {
	subjects := []*subject{
		{name: "recuse", node: lab.Nodes[1], lost: map[float64][]int{}},
		{name: "frr", node: lab.Nodes[2], lost: map[float64][]int{}},
	}
	for b.Loop() {
		for _, rate := range rates {
			for _, s := range subjects {
				s.freeze(b, lab, rate)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of the whole round, which says nothing
	for _, s := range subjects {
		s.report(b)
	}
}

// freeze freezes the node under load at a random phase, and lets it come back.
func (s *subject) freeze(b *testing.B, lab *topology.Lab, rate float64) {
	b.Helper()
	announced(b, lab, lab.Nodes...)
	client := asking(b, lab, rate)
	phase := time.NewTimer(200*time.Millisecond + rand.N(300*time.Millisecond))
	<-phase.C
	announced(b, lab, lab.Nodes...) // short timers may have gone off on a busy box
	s.gone = append(s.gone, silenced(b, lab, s.node, s.node.Freeze))
	tail := time.NewTimer(200 * time.Millisecond)
	<-tail.C
	f := client.end()
	s.lost[rate], s.late = append(s.lost[rate], f.Lost), append(s.late, f.LateP99)
	must(b, s.node.Thaw())
}

// report reports what came of the node.
func (s *subject) report(b *testing.B) {
	report(b, s.name+"-gone", s.gone)
	report(b, s.name+"-client-late", s.late)
	for rate, lost := range s.lost {
		slices.Sort(lost)
		b.ReportMetric(float64(lost[len(lost)/2]), fmt.Sprintf("%s-lost-median-at-%v", s.name, rate))
		b.ReportMetric(float64(lost[len(lost)-1]), fmt.Sprintf("%s-lost-worst-at-%v", s.name, rate))
	}
}
