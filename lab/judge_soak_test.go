package lab_test

import (
	"testing"
	"time"

	"recuse/lab/authority"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// BenchmarkSoak runs at full length, and with the settings of a user, what the
// tests run in short: nothing is measured but what the log says, and what must
// not happen fails. Docs/measurements.md has figures of
//
//	make soak
func BenchmarkSoak(b *testing.B) {
	for _, run := range []struct {
		name string
		run  func(b *testing.B, router string)
	}{
		{"steady", soakSteady},
		{"restarts", soakRestarts},
		{"stalls", soakStalls},
		{"flapping", soakFlapping},
		{"servfail-15", soakServFail},
		{"pauses", soakPauses},
		{"operator", soakOperator},
	} {
		for _, router := range []string{topology.FRR, topology.BIRD} {
			b.Run(run.name+"/"+router, func(b *testing.B) {
				for b.Loop() {
					run.run(b, router)
				}
				b.ReportMetric(0, "ns/op") // of the whole, which says nothing
			})
		}
	}
}

// The holds of a user.
const holdMin, holdMax = 5 * time.Second, 5 * time.Minute

// asUsed raises a lab with the default settings, whatever they take.
func asUsed(b *testing.B, o topology.Options) *topology.Lab {
	b.Helper()
	o.Recuse = recuse(b)
	if o.BFD == nil {
		o.BFD = &patientBFD
	}
	return labtest.Start(b, o)
}

// soakSteady is TestSteady for ten minutes.
func soakSteady(b *testing.B, router string) {
	quiet(b, asUsed(b, topology.Options{Router: router, Nodes: 2}), 10*time.Minute)
}

// soakRestarts is TestRestarts with twenty of them.
func soakRestarts(b *testing.B, router string) {
	restarts(b, asUsed(b, topology.Options{Router: router, Nodes: 2}), 20, holdMin, holdMax)
}

// soakStalls is TestStalls with three seconds in every minute.
func soakStalls(b *testing.B, router string) {
	stalls(b, asUsed(b, topology.Options{Router: router, Nodes: 2}), 8, 3*time.Second, time.Minute, holdMin)
}

// soakFlapping is TestHold without an end in sight: the home zone fails for ten
// seconds and is well for ten.
func soakFlapping(b *testing.B, router string) {
	lab := asUsed(b, topology.Options{Router: router, Nodes: 2})
	n := lab.Nodes[0]
	settled(b, lab)
	client, begin, seen := askingFor(b, lab, 200, internet()), time.Now(), len(history(b, n))
	covered(b, lab, func() {
		for range 20 {
			fails(b, lab, authority.ServFail, n)
			pass(b, 10*time.Second)
			fails(b, lab, authority.None, n)
			pass(b, 10*time.Second)
		}
	})
	list, words := since(history(b, n), seen)
	b.Logf("%d full returns, holds %v: %s", bounces(list), spans(list), words)
	if got, want := bounces(list), most(time.Since(begin), holdMin, holdMax); got > want {
		b.Errorf("%d full returns, want at most %d", got, want)
	}
	lossless(b, client, 200)
}

// soakServFail has one resolver of three say SERVFAIL to 15 % of the questions,
// between what is tolerated and what is acted on: when the node leaves and for
// how long is reported, and nothing is asked of it.
func soakServFail(b *testing.B, router string) {
	lab := asUsed(b, topology.Options{Router: router, Switchable: true})
	n := lab.Nodes[0]
	settled(b, lab)
	var well [2]int
	for i := range well {
		well[i] = len(history(b, lab.Nodes[i+1]))
	}
	client, begin, seen := asking(b, lab, 100), time.Now(), len(history(b, n))
	must(b, n.Behave(b.Context(), authority.Behaviour{Failure: authority.ServFail, Part: 0.15}))
	covered(b, lab, func() { pass(b, 20*time.Minute) })
	list, words := since(history(b, n), seen)
	for _, e := range list {
		b.Logf("after %v: %s (%s) %s", e.At.Sub(begin).Round(time.Second), e.Stance, e.Reason, e.Detail)
	}
	b.Logf("15 %% SERVFAIL for 20 minutes: %d decisions: %s", len(list), words)
	f := reported(b, client, "15 % of one node's answers are SERVFAIL")
	for i := range well {
		if rest, words := since(history(b, lab.Nodes[i+1]), well[i]); len(rest) > 0 {
			b.Logf("the box had no time for a node that is well, so losses say nothing: %s", words)
			return
		}
	}
	if f.Lost > 0 {
		b.Errorf("%d questions lost, though every node answers all", f.Lost)
	}
}

// soakOperator is the operator's part of TestReload at a thousand questions a
// second.
func soakOperator(b *testing.B, router string) {
	lab := guarded(b, topology.Options{Router: router, BFD: &patientBFD}, func(node int, c tree) {
		second(node, c)
		unhurried(c)
	})
	settled(b, lab)
	for range 3 {
		operates(b, lab, 1000)
		must(b, lab.Nodes[0].Reconfigure(func(c tree) { delete(c["bgp"].(tree), "communities") }))
		does(b, lab.Nodes[0], "reload")
	}
}

// soakPauses is TestPausedAgent with fifty.
func soakPauses(b *testing.B, router string) {
	pauses(b, asUsed(b, topology.Options{Router: router, Nodes: 2, BFD: &paces[0].bfd}), 50)
}
