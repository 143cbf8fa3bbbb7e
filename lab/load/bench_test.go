package load

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"recuse/lab/load/stub"
)

// The benchmark's length and rate: go test -bench Dnsperf -benchtime 1x
// -load.seconds 10 ./lab/load.
var (
	benchSeconds = flag.Int("load.seconds", 60, "length of each part of the benchmarks, in seconds")
	benchRate    = flag.Int("load.rate", 20_000, "rate of the benchmarks, in questions a second")
)

// serverPort is the variable that makes this test binary the fast server.
const serverPort = "LOAD_TEST_FAST_SERVER"

// TestMain runs the tests, or the server that the benchmarks put in a process of
// its own, so that it shares no Go scheduler with what is measured.
func TestMain(m *testing.M) {
	if os.Getenv(serverPort) != "" {
		fastServer()
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// fastServer answers every question over UDP with itself, as an answer, until
// its standard input ends. It prints its address.
func fastServer() {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = conn.SetReadBuffer(8 << 20)
	fmt.Println(conn.LocalAddr())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			continue
		}
		buf[2] |= 0x80
		_, _ = conn.WriteToUDPAddrPort(buf[:n], from)
	}
}

// startServer starts the fast server's process.
func startServer(b *testing.B) netip.AddrPort {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serverPort+"=1")
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil {
		b.Fatal(errIn, errOut)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	at, err := netip.ParseAddrPort(strings.TrimSpace(string(line[:n])))
	if err != nil {
		b.Fatal(err)
	}
	return at
}

// BenchmarkBesideDnsperf has this generator and dnsperf ask the same server at
// the same rate, one after the other.
func BenchmarkBesideDnsperf(b *testing.B) {
	for _, transport := range []Transport{UDP, UDPOnePort} {
		b.Run(string(transport), func(b *testing.B) { benchOwn(b, transport) })
	}
	b.Run("dnsperf", benchDnsperf)
}

// benchOwn measures this generator.
func benchOwn(b *testing.B, transport Transport) {
	to := startServer(b)
	var late, felt []time.Duration
	lost := map[Outcome]int{}
	began := cpu()
	_, err := Run(b.Context(), Config{Servers: one(to), Rate: float64(*benchRate), Transport: transport,
		Duration: time.Duration(*benchSeconds) * time.Second, Discard: true,
		Record: func(r Record) {
			late = append(late, r.Late())
			if r.Lost() {
				lost[r.Outcome]++
				return
			}
			felt = append(felt, r.Felt())
		}})
	if err != nil {
		b.Fatal(err)
	}
	used := cpu() - began
	slices.Sort(late)
	slices.Sort(felt)
	want := *benchRate * *benchSeconds
	if len(late) != want {
		b.Errorf("asked %d questions, want %d", len(late), want)
	}
	b.Logf("%s: asked %d, lost %v; late p50 %s p99 %s p99.9 %s max %s; felt p50 %s p99 %s max %s; CPU %.2f of a core; load %s",
		transport, len(late), lost, quantile(late, 0.5), quantile(late, 0.99), quantile(late, 0.999), quantile(late, 1),
		quantile(felt, 0.5), quantile(felt, 0.99), quantile(felt, 1), used.Seconds()/float64(*benchSeconds), loadAverage())
	b.ReportMetric(float64(len(late)-len(felt)), "lost")
	b.ReportMetric(float64(quantile(late, 0.99).Microseconds()), "late-p99-us")
	b.ReportMetric(float64(quantile(felt, 0.99).Microseconds()), "felt-p99-us")
	b.ReportMetric(used.Seconds()/float64(*benchSeconds), "cores")
}

// benchDnsperf measures dnsperf at the same.
func benchDnsperf(b *testing.B) {
	to := startServer(b)
	names := filepath.Join(b.TempDir(), "names")
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "name%d.internet.example A\n", i)
	}
	if err := os.WriteFile(names, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("dnsperf", "-s", to.Addr().String(), "-p", strconv.Itoa(int(to.Port())), "-d", names,
		"-l", strconv.Itoa(*benchSeconds), "-Q", strconv.Itoa(*benchRate), "-q", "100000", "-t", "2", "-e")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %s (dnsperf is in Debian's package dnsperf)", err, out.String())
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	_, figures, _ := strings.Cut(out.String(), "Statistics:") // without a line for each that timed out
	b.Logf("dnsperf: CPU %.2f of a core; load %s\n%s", used.Seconds()/float64(*benchSeconds), loadAverage(), figures)
	lost := regexp.MustCompile(`Queries lost:\s+(\d+)`).FindStringSubmatch(out.String())
	if lost == nil {
		b.Fatal("dnsperf does not say what it lost")
	}
	n, err := strconv.ParseFloat(lost[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(n, "lost")
	b.ReportMetric(used.Seconds()/float64(*benchSeconds), "cores")
}

// BenchmarkOutstanding measures what a question that is not answered costs in
// memory: here, and in the kernel for its socket.
func BenchmarkOutstanding(b *testing.B) {
	silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer silent.Close()
	const questions, rate = 15_000, 15_000 // within a limit of 20,000 files
	before, kernel := heap(), slab(b)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, Config{Servers: one(silent.LocalAddr().(*net.UDPAddr).AddrPort()), Rate: rate,
			Duration: time.Second, Stub: stub.None(4 * time.Second), Discard: true})
		done <- err
	}()
	<-time.After(2 * time.Second)
	after, kernelAfter := heap(), slab(b)
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	own, theirs := float64(after-before)/questions, float64(kernelAfter-kernel)/questions
	b.Logf("a question under way: %d bytes of state, %d of socket; measured with %d outstanding: %.0f bytes of heap, %.0f bytes of the kernel's slab",
		unsafe.Sizeof(lookup{}), unsafe.Sizeof(socket{}), questions, own, theirs)
	b.ReportMetric(own, "heap-bytes/question")
	b.ReportMetric(theirs, "kernel-bytes/question")
}

// heap is how much memory Go uses after tidying up.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// slab is how much memory the kernel's objects use.
func slab(b *testing.B) int64 {
	b.Helper()
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		b.Fatal(err)
	}
	found := regexp.MustCompile(`Slab:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		b.Fatal("no Slab in /proc/meminfo")
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes << 10
}

// cpu is the time that this process has run.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// loadAverage is the box's load, which says what to think of a measurement.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
