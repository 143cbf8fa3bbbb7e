package bgp

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkWithdraw measures from the call of Set to the whole withdrawal
// read by the router, on loopback.
func BenchmarkWithdraw(b *testing.B) {
	router := newRawRouter(b, "127.53.3.1")
	s := startSpeaker(b, rawConfig(router.peer(65000)))
	c := router.accept()
	c.establish(65000)
	s.established(0)
	var took []time.Duration
	for b.Loop() {
		if err := s.Set(routes("10.1.9.53/32")); err != nil {
			b.Fatal(err)
		}
		c.expect(typeUpdate)
		began := time.Now()
		if err := s.Set(nil); err != nil {
			b.Fatal(err)
		}
		c.expect(typeUpdate)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for name, share := range map[string]int{"p50-µs": 50, "p99-µs": 99, "max-µs": 100} {
		b.ReportMetric(float64(took[(len(took)-1)*share/100].Microseconds()), name)
	}
}

// BenchmarkFootprint reports the resident memory of a process that does
// nothing but hold one session with FRR and two routes.
func BenchmarkFootprint(b *testing.B) {
	l := newLab(b, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	s := l.speaker(node, nodeConfig(v4Peer()))
	s.set(routes(service...))
	f.installed(service[0], "10.1.1.11")
	var kib float64
	for b.Loop() {
		kib = residentKiB(b, s.cmd.Process.Pid)
	}
	b.ReportMetric(kib/1024, "RSS-MiB")
}

// residentKiB is VmRSS of a process.
func residentKiB(b *testing.B, pid int) float64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			n, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// BenchmarkRouterWithdraw measures from the call of Set to the route gone from
// the kernel of an FRR router, whose own queues take most of it.
func BenchmarkRouterWithdraw(b *testing.B) {
	l := newLab(b, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	s := l.speaker(node, nodeConfig(v4Peer()))
	monitor := exec.Command("ip", "-n", router, "-o", "monitor", "route")
	out, err := monitor.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := monitor.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = monitor.Process.Kill(); _ = monitor.Wait() })
	gone := make(chan time.Time, 64)
	go watchDeletions(out, gone)
	var took []time.Duration
	for b.Loop() {
		s.set(routes(service[0]))
		f.installed(service[0], "10.1.1.11")
		for len(gone) > 0 {
			<-gone
		}
		began := s.set(nil)
		took = append(took, (<-gone).Sub(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

// watchDeletions sends the time of every deletion of the test's route.
func watchDeletions(out io.Reader, gone chan<- time.Time) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "Deleted 10.1.9.53") {
			gone <- time.Now()
		}
	}
}
