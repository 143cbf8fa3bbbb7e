package lab_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// BenchmarkLeave measures, with the default settings of a check but a shorter
// rise and hold, from a fault of the resolver at a random phase of its checks:
// to the UPDATE on the wire that withdraws or, for a fault short of death,
// depreferences (ours), and to the next hop gone in the router's kernel. The
// floor is the time between the two, which is the router's own. Docs/measurements.md has figures of
//
//	make bin/recuse bin/recuse-authority
//	RECUSE_TEST_BIN=$PWD/bin go test -run - -bench Leave -benchtime 20x ./lab
func BenchmarkLeave(b *testing.B) {
	faults := []struct {
		name         string
		fault, mends func(*topology.Process) error
	}{
		{"killed", (*topology.Process).Kill, (*topology.Process).Start},
		{"stopped", (*topology.Process).Stop, (*topology.Process).Cont},
	}
	for _, router := range []string{topology.FRR, topology.BIRD} {
		lab := labtest.Start(b, topology.Options{Router: router, Recuse: recuse(b), Configure: defaults})
		for _, f := range faults {
			b.Run(router+"/"+f.name, func(b *testing.B) { leave(b, lab, f.fault, f.mends) })
		}
		must(b, lab.Close())
	}
}

// defaults leaves the checks as they are, but for what only the way back takes.
func defaults(_ int, c tree) {
	service(c, 0)["hold"] = tree{"min": "50ms", "max": "100ms"}
	for _, check := range service(c, 0)["checks"].([]any) {
		check.(tree)["rise"] = 2
	}
}

// leave lets the second node leave and come back, again and again, and reports
// the medians and the worst.
func leave(b *testing.B, lab *topology.Lab, fault, mends func(*topology.Process) error) {
	n := lab.Nodes[1]
	announced(b, lab, lab.Nodes...)
	events, err := lab.Router.Watch(b.Context())
	must(b, err)
	w := capture(b, n)
	var faults, kernel []time.Time
	for b.Loop() {
		phase := time.NewTimer(time.Second + rand.N(time.Second))
		<-phase.C
		faults = append(faults, time.Now())
		must(b, fault(n.Resolver))
		kernel = append(kernel, after(b, events, anycast4, n.V4, false))
		must(b, mends(n.Resolver))
		after(b, events, anycast4, n.V4, true)
		announced(b, lab, lab.Nodes...)
	}
	list := w.sent(func(l []message) bool {
		return count(l, "withdraw")+count(l, "depreference") >= 2*len(faults)
	})
	var ours, all, floor []time.Duration
	for i, at := range faults {
		wire := firstAfter(list, at)
		ours, all = append(ours, wire.Sub(at)), append(all, kernel[i].Sub(at))
		floor = append(floor, kernel[i].Sub(wire))
	}
	b.ReportMetric(0, "ns/op") // of the whole round, which says nothing
	report(b, "wire", ours)
	report(b, "kernel", all)
	report(b, "floor", floor)
}

// firstAfter is when the first IPv4 UPDATE that gives way after a moment was
// sent.
func firstAfter(list []message, at time.Time) time.Time {
	for _, m := range list {
		if (m.Kind == "withdraw" || m.Kind == "depreference") && !m.Six &&
			m.At.After(at) {
			return m.At
		}
	}
	return time.Time{}
}

// report reports the median and the worst in milliseconds.
func report(b *testing.B, name string, list []time.Duration) {
	slices.Sort(list)
	b.ReportMetric(list[len(list)/2].Seconds()*1000, name+"-median-ms")
	b.ReportMetric(list[len(list)-1].Seconds()*1000, name+"-worst-ms")
}

// idleTime is how long an idle agent is watched.
const idleTime = time.Minute

// BenchmarkIdle measures the resident memory of an agent that has been
// announced for a minute, and its share of a core in that minute. The program
// should be the one that is shipped: see BenchmarkLeave.
func BenchmarkIdle(b *testing.B) {
	lab := labtest.Start(b, topology.Options{Nodes: 1, Recuse: recuse(b)})
	n := lab.Nodes[0]
	announced(b, lab, n)
	for b.Loop() {
		before := ticks(b, n)
		pause := time.NewTimer(idleTime)
		<-pause.C
		share := float64(ticks(b, n)-before) / clockTicks / idleTime.Seconds()
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(resident(b, n), "MiB-resident")
		b.ReportMetric(100*share, "%-of-a-core")
	}
}

// resident is the agent's resident memory in MiB (proc(5), VmRSS).
func resident(b *testing.B, n *topology.Node) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.Agent.PID()))
	must(b, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	must(b, err)
	return float64(kib) / 1024
}

// clockTicks is the kernel's unit of processor time in a second (USER_HZ).
const clockTicks = 100

// ticks is the agent's processor time so far (proc(5), utime and stime).
func ticks(b *testing.B, n *topology.Node) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.Agent.PID()))
	must(b, err)
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold spaces
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	must(b, err)
	system, err := strconv.Atoi(fields[12])
	must(b, err)
	return user + system
}
