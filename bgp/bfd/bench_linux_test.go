package bfd

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkLateness measures how late the packets of eight sessions at 50 ms
// leave, beside processes and goroutines that would take every processor:
//
//	go test -run - -bench Lateness -benchtime 10s ./bgp/bfd
//
// Each operation is one packet. Among 3 packets at 50 ms, one that is 100 ms
// late is one too many.
func BenchmarkLateness(b *testing.B) {
	for _, policy := range []string{"other", "rr"} {
		for _, hogs := range []int{0, 2, 4} {
			b.Run(fmt.Sprintf("%s/processes=%d", policy, hogs), func(b *testing.B) {
				lateness(b, policy, hogs, 0, runtime.GOMAXPROCS(0))
			})
		}
		for _, procs := range []int{runtime.NumCPU(), 4 * runtime.NumCPU()} {
			b.Run(fmt.Sprintf("%s/goroutines=2/gomaxprocs=%d", policy, procs), func(b *testing.B) {
				lateness(b, policy, 0, 2, procs)
			})
		}
	}
}

// lateness runs one case for b.N packets.
func lateness(b *testing.B, policy string, processes, goroutines, procs int) {
	defer usePolicy(b, policy)()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	defer startHogs(b, processes)()
	var stop atomic.Bool
	defer stop.Store(true)
	for range goroutines {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	report(b, runSessions(b, 8))
}

// BenchmarkReceive is the path of a packet that changes nothing, from its bytes
// to the rearmed watch.
func BenchmarkReceive(b *testing.B) {
	e := newEngine(Options{})
	e.transport = lot{}
	defer e.Close()
	s, err := e.Add(Config{Peer: peer1}, nil)
	if err != nil {
		b.Fatal(err)
	}
	p := Packet{
		State: Init, Multiplier: 3, MyDiscriminator: 7, YourDiscriminator: s.discr,
		DesiredMinTx: 50 * ms, RequiredMinRx: 50 * ms,
	}
	d := datagram{payload: p.AppendTo(nil), from: peer1, ttl: 255}
	b.ReportAllocs()
	for b.Loop() {
		d.at = time.Now()
		e.deliver(&d)
	}
}

// BenchmarkSessions measures what sessions at 300 ms cost beside BIRD, over the
// kernel's sockets: the share of one processor, and the memory of each.
//
//	go test -run - -bench Sessions -benchtime 20x ./bgp/bfd
//
// Each operation is half a second.
func BenchmarkSessions(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { manySessions(b, n) })
	}
}

// manySessions measures n sessions for b.N half seconds.
func manySessions(b *testing.B, n int) {
	needRoot(b, "ip", "nft", "bird")
	l := newLab(b)
	l.run("ip address add 10.77.0.1/16 dev us0")
	l.run("ip -n " + l.peer + " address add 10.77.255.2/16 dev peer0")
	var many []way
	for i := range n {
		w := way{name: fmt.Sprint(i), our: netip.AddrFrom4([4]byte{10, 77, 1, byte(i)}), his: addr("10.77.255.2"), his0: "peer0"}
		l.run(fmt.Sprintf("ip address add %v/32 dev us0", w.our))
		many = append(many, w)
	}
	before := memory()
	tr := newTrialOn(l, newBIRD, settings{tx: 300 * ms, rx: 300 * ms, mult: 3}, many)
	tr.await("no poll is under way", func(st Status) bool { return !st.Polling })
	after := memory()
	b.ResetTimer()
	used, begin := processorTime(), time.Now()
	for range b.N {
		<-time.After(500 * ms)
	}
	share := float64(processorTime()-used) / float64(time.Since(begin))
	b.ReportMetric(100*share, "%cpu")
	b.ReportMetric((float64(after)-float64(before))/float64(n)/1024, "KiB/session")
	b.ReportMetric(float64(sum(tr.sessions).Worst.Microseconds())/1000, "worst-ms")
}

// BenchmarkFalseDowns counts how often sessions at 50 ms x 3 go down for no
// reason while processes compute on all processors: ours with a router, and
// beside it, in the same run, that of FRR's bfdd with the same router. The
// router is a bfdd as well, under real-time scheduling, so that it is not the
// one who is late.
//
//	go test -run - -bench FalseDowns -benchtime 1800x -timeout 2h ./bgp/bfd
//
// Each operation is a second, so that is half an hour for each policy.
func BenchmarkFalseDowns(b *testing.B) {
	for _, policy := range []string{"other", "rr"} {
		b.Run(policy, func(b *testing.B) { falseDowns(b, policy) })
	}
}

// falseDowns runs one policy for b.N seconds.
func falseDowns(b *testing.B, policy string) {
	needRoot(b, "ip", "nft", "chrt", "stress-ng")
	l := newLab(b)
	pace := settings{tx: 50 * ms, rx: 50 * ms, mult: 3}
	ours := ways[0]
	toNode := way{name: "bfdd", our: addr("203.0.113.254"), his: addr("203.0.113.2"), his0: "peer1"}
	toRouter := way{name: "router", our: toNode.his, his: toNode.our, his0: "r1"}
	rt := newFRRIn(l, l.peer, []way{ours, toNode})
	node := newFRRIn(l, l.router, []way{toRouter})
	rt.start(pace)
	l.run(fmt.Sprintf("chrt --rr --all-tasks --pid 30 %d", rt.pid()))
	node.start(pace)
	defer usePolicy(b, policy)()
	s, err := l.engine.Add(Config{Peer: ours.his, Local: ours.our, DesiredMinTx: pace.tx, RequiredMinRx: pace.rx}, nil)
	if err != nil {
		b.Fatal(err)
	}
	show := func() string { return s.Status().Trouble() + rt.show() }
	l.eventually("both sessions are up", 20*time.Second, func() bool {
		return s.Status().State == Up && !s.Status().Polling && strings.Count(rt.show(), "Status: up") == 2
	}, show)
	b.ResetTimer()
	ourDowns, theirDowns := rt.downs(ours), rt.downs(toNode)
	defer startHogs(b, 2*runtime.NumCPU())()
	for range b.N {
		<-time.After(time.Second)
	}
	b.ReportMetric(float64(rt.downs(ours)-ourDowns), "our-downs")
	b.ReportMetric(float64(rt.downs(toNode)-theirDowns), "bfdd-downs")
	report(b, s.Status().Lateness)
}

// downs returns how often the session on a way has gone down, as FRR counts.
func (f *frr) downs(w way) int {
	f.t.Helper()
	out, err := f.vtysh(fmt.Sprintf("show bfd peer %v local-address %v interface %s counters json", w.our, w.his, w.his0))
	var counters struct {
		Downs *int `json:"session-down"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &counters)
	}
	if err != nil || counters.Downs == nil {
		f.t.Fatalf("no counters of FRR: %v\n%s", err, out)
	}
	return *counters.Downs
}

// usePolicy puts this process under a scheduling policy, and returns what
// undoes that.
func usePolicy(b *testing.B, policy string) func() {
	b.Helper()
	if policy == "other" {
		return func() {}
	}
	// Should the threads ever get stuck in a loop, the kernel ends them.
	limit := unix.Rlimit{Cur: 20e6, Max: 20e6} // microseconds
	if err := unix.Setrlimit(unix.RLIMIT_RTTIME, &limit); err != nil {
		b.Fatal(err)
	}
	if err := SetRealtime(20); err != nil {
		b.Fatal(err)
	}
	return func() { setScheduling(&unix.SchedAttr{Policy: unix.SCHED_NORMAL}) }
}

// startHogs starts processes that compute, and returns what ends them. They run
// as plain processes, whatever this one does.
func startHogs(b *testing.B, n int) func() {
	b.Helper()
	if n == 0 {
		return func() {}
	}
	hogs := exec.Command("chrt", "--other", "0", "stress-ng", "--quiet", "--cpu", fmt.Sprint(n))
	if err := hogs.Start(); err != nil {
		b.Fatal(err)
	}
	return func() {
		hogs.Process.Signal(os.Interrupt) // on which stress-ng ends its workers
		hogs.Wait()
	}
}

// memory returns the bytes that live objects and stacks take.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runSessions lets n sessions send b.N packets altogether and returns their
// lateness. Their scripted peers never expire; packets go to /dev/null, so
// that each costs its system call.
func runSessions(b *testing.B, n int) Lateness {
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	e := newEngine(Options{})
	e.transport = sink{null}
	defer e.Close()
	var all []*Session
	for i := range n {
		peer := addrB
		for range i {
			peer = peer.Next()
		}
		s, err := e.Add(Config{Peer: peer, DesiredMinTx: 50 * ms, RequiredMinRx: 50 * ms}, nil)
		if err != nil {
			b.Fatal(err)
		}
		p := Packet{
			State: Init, Multiplier: 255, MyDiscriminator: 7, YourDiscriminator: s.discr,
			DesiredMinTx: time.Minute, RequiredMinRx: 50 * ms,
		}
		e.deliver(&datagram{payload: p.AppendTo(nil), from: peer, ttl: 255, at: time.Now()})
		all = append(all, s)
	}
	b.ResetTimer()
	before := sum(all)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for sum(all).packets()-before.packets() < uint64(b.N) {
		<-tick.C
	}
	return sum(all)
}

// sum adds the lateness of sessions up.
func sum(all []*Session) Lateness {
	var total Lateness
	for _, s := range all {
		l := s.Status().Lateness
		total.Worst = max(total.Worst, l.Worst)
		for i, n := range l.Buckets {
			total.Buckets[i] += n
		}
	}
	return total
}

// packets returns how many packets were counted.
func (l Lateness) packets() uint64 {
	var n uint64
	for _, c := range l.Buckets {
		n += c
	}
	return n
}

// report reports the lateness of a case.
func report(b *testing.B, l Lateness) {
	b.ReportMetric(float64(l.Quantile(0.5).Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(l.Quantile(0.99).Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(l.Worst.Microseconds())/1000, "worst-ms")
}

// sink is a transport whose links write to a file.
type sink struct{ *os.File }

func (s sink) open(*Config) (link, error) { return sinkLink{&lotLink{}, s.File}, nil }
func (s sink) close()                     {}

// A sinkLink is a link of sink.
type sinkLink struct {
	*lotLink
	file *os.File
}

func (s sinkLink) send(b []byte) error { _, err := s.file.Write(b); return err }
