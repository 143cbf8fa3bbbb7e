package cable

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/netlinkx/netnstest"
)

// BenchmarkCable measures the cable by itself. Every figure of doc.go comes from
//
//	go test -run - -bench Cable -benchtime 5s ./lab/cable
func BenchmarkCable(b *testing.B) {
	netnstest.Need(b)
	b.Run("direct", benchDirect)
	for _, delay := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("delay=%dms", delay), func(b *testing.B) { benchDelay(b, ms(delay)) })
	}
	b.Run("stream", benchStream)
	b.Run("flood", benchFlood)
	b.Run("loss", benchLoss)
	b.Run("rate=20000", benchRate)
	b.Run("idle", benchIdle)
}

// microseconds is a metric's value.
func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// benchDirect is the round trip between two hosts without a cable, to compare
// with.
func benchDirect(b *testing.B) {
	d := &bed{left: newSpace(b), right: newSpace(b)}
	d.middle = d.right
	d.join(b, d.left, "a", leftIP+"/24")
	d.right.address(b, "a", rightIP+"/24")
	reportTrips(b, d.newPinger(b, rightIP), 0)
}

// benchDelay is the round trip with that delay each way; what it takes beyond
// that is the error.
func benchDelay(b *testing.B, delay time.Duration) {
	d := wired(b)
	p := d.newPinger(b, rightIP)
	p.rtts(b, 1)
	if err := d.Shape(Shape{Delay: delay}); err != nil {
		b.Fatal(err)
	}
	d.ForgetLateness()
	reportTrips(b, p, 2*delay)
	ab, ba := d.Lateness()
	b.ReportMetric(microseconds(max(ab.Median, ba.Median)), "µs-late-p50")
	b.ReportMetric(microseconds(max(ab.P99, ba.P99)), "µs-late-p99")
	b.ReportMetric(microseconds(max(ab.Worst, ba.Worst)), "µs-late-worst")
}

// reportTrips measures round trips and reports what they take beyond so much.
func reportTrips(b *testing.B, p *pinger, beyond time.Duration) {
	b.ResetTimer()
	rtts := p.rtts(b, b.N)
	b.StopTimer()
	b.ReportMetric(microseconds(rtts[0]-beyond), "µs-min")
	b.ReportMetric(microseconds(rtts[len(rtts)/2]-beyond), "µs-p50")
	b.ReportMetric(microseconds(rtts[len(rtts)*99/100]-beyond), "µs-p99")
	b.ReportMetric(microseconds(rtts[len(rtts)-1]-beyond), "µs-worst")
}

// benchStream is TCP's throughput; an operation is a mebibyte.
func benchStream(b *testing.B) {
	d := wired(b)
	b.SetBytes(1 << 20)
	b.ResetTimer()
	d.stream(b, rightIP, int64(b.N)<<20)
}

// query is as long as a DNS query commonly is.
var query = make([]byte, 60)

// benchFlood sends as fast as it can, one way, and never more than a socket's
// buffer ahead.
func benchFlood(b *testing.B) {
	d := wired(b)
	to := d.listen(b)
	from := d.dial(b, to)
	got := count(to, nil)
	b.ResetTimer()
	for i := range b.N {
		if _, err := from.Write(query); err != nil {
			b.Fatal(err)
		}
		for i-int(got.Load()) > 4000 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	eventually(b, "all come", func() bool { return int(got.Load()) >= b.N })
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

// count counts what comes, and hands it to each, if set.
func count(conn *net.UDPConn, each func(data []byte, from netip.AddrPort)) *atomic.Int64 {
	n := new(atomic.Int64)
	go func() {
		buf := make([]byte, 2048)
		for {
			size, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			n.Add(1)
			if each != nil {
				each(buf[:size], from)
			}
		}
	}()
	return n
}

// benchLoss loses 30 % of the packets and says how far that is off, in standard
// deviations of chance.
func benchLoss(b *testing.B) {
	d := wired(b)
	to := d.listen(b)
	from := d.dial(b, to)
	end := make(chan struct{})
	got := count(to, func(data []byte, _ netip.AddrPort) {
		if len(data) == 1 {
			close(end)
		}
	})
	d.newPinger(b, rightIP).rtts(b, 1)
	if err := d.Shape(Shape{Loss: 0.3}); err != nil {
		b.Fatal(err)
	}
	before := d.Counters().AB
	for i := range b.N {
		if _, err := from.Write(query); err != nil {
			b.Fatal(err)
		}
		// No faster than the cable takes, and the receiver reads.
		for i%1000 == 0 && !d.caughtUp(before, i, int(got.Load())) {
			time.Sleep(50 * time.Microsecond)
		}
	}
	eventually(b, "all enter", func() bool { return int(d.Counters().AB.In-before.In) >= b.N })
	if err := d.Shape(Shape{}); err != nil {
		b.Fatal(err)
	}
	if _, err := from.Write(query[:1]); err != nil {
		b.Fatal(err)
	}
	<-end
	b.ReportMetric(100*float64(b.N-int(got.Load())+1)/float64(b.N), "%-lost")
}

// caughtUp reports whether the cable has taken so many frames since then, and
// the receiver all but some of what came out.
func (d *bed) caughtUp(before Flow, sent, got int) bool {
	f := d.Counters().AB
	return int(f.In-before.In) >= sent && int(f.Out-before.Out) < got+2000
}

// benchRate carries 20,000 queries and as many answers a second beside BFD at
// 50 ms x 3; an operation is a query.
func benchRate(b *testing.B) {
	const rate, perTick = 20_000, 20
	d := wired(b)
	downs := d.watch(b)
	to := d.listen(b)
	count(to, func(data []byte, from netip.AddrPort) { _, _ = to.WriteToUDPAddrPort(data, from) })
	from := d.dial(b, to)
	forceBuffer(b, from)
	answers := count(from, nil)
	d.newPinger(b, rightIP).rtts(b, 1)
	d.ForgetLateness()
	before := processorTime()
	b.ResetTimer()
	start := time.Now()
	for i := range b.N {
		if i%perTick == 0 {
			time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / rate)))
		}
		if _, err := from.Write(query); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	deadline := time.Now().Add(2 * time.Second)
	for int(answers.Load()) < b.N && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	ab, ba := d.Lateness()
	b.ReportMetric(float64(b.N-int(answers.Load())), "lost")
	b.ReportMetric(float64(downs()), "BFD-downs")
	b.ReportMetric(microseconds(max(ab.P99, ba.P99)), "µs-late-p99")
	b.ReportMetric(microseconds(max(ab.Worst, ba.Worst)), "µs-late-worst")
	b.ReportMetric(100*(processorTime()-before).Seconds()/b.Elapsed().Seconds(), "%-of-a-core")
}

// watch holds a BFD session at 50 ms x 3 between BIRD on the left and BIRD on
// the right, and returns, once it is up, what counts how often it went down. BIRD
// is as urgent as the cable, so that a session that goes down is the cable's
// doing and not the busy box's.
func (d *bed) watch(b *testing.B) (downs func() int) {
	b.Helper()
	bird, err := exec.LookPath("bird")
	if err != nil {
		bird = "/usr/sbin/bird"
	}
	var logs []string
	for i, s := range []*space{d.left, d.right} {
		dir, own, peer := b.TempDir(), []string{leftIP, rightIP}[i], []string{rightIP, leftIP}[i]
		log := filepath.Join(dir, "log")
		logs = append(logs, log)
		conf := fmt.Sprintf(`log %q all; router id %s; protocol device {}
protocol bfd { debug { states, events }; neighbor %s local %s;
  interface "e0" { min rx interval 50 ms; min tx interval 50 ms; multiplier 3; }; }
`, log, own, peer, own)
		if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(bird, "-f", "-c", filepath.Join(dir, "conf"), "-s", filepath.Join(dir, "ctl"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		s.must(b, cmd.Start)
		urgent := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
		if err := unix.SchedSetAttr(cmd.Process.Pid, &urgent, 0); err != nil {
			b.Fatalf("failed to make BIRD urgent: %v", err)
		}
		b.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	}
	seen := func(what string) (n int) {
		for _, l := range logs {
			text, _ := os.ReadFile(l) // not there yet: nothing seen
			n += strings.Count(string(text), what)
		}
		return n
	}
	eventually(b, "BFD up", func() bool { return seen("from Init to Up")+seen("from Down to Up") >= 2 })
	return func() int { return seen("from Up to Down") }
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err) // with these arguments it cannot fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchIdle is the processor time of a cable that carries nothing; an operation
// is a tenth of a second.
func benchIdle(b *testing.B) {
	d := wired(b)
	d.newPinger(b, rightIP).rtts(b, 1)
	before := processorTime()
	b.ResetTimer()
	for range b.N {
		time.Sleep(ms(100))
	}
	b.StopTimer()
	b.ReportMetric(100*(processorTime()-before).Seconds()/b.Elapsed().Seconds(), "%-of-a-core")
}
