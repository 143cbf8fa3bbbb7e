package tripwire

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/netlinkx/netnstest"
)

// patience is how long tests wait for what is bound to come.
const patience = 10 * time.Second

// server is where the tests' servers listen.
var server = netip.MustParseAddrPort("127.0.0.1:53")

// lay lays a wire and returns it and the times at which it tripped.
func lay(t *testing.T, servers ...netip.AddrPort) (*Wire, <-chan time.Time) {
	t.Helper()
	w, err := Open(servers...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	trips, ended := make(chan time.Time, 10_000), make(chan error, 1)
	go func() { ended <- w.Run(ctx, func() { trips <- time.Now() }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the wire ended with %v", err)
		}
	})
	return w, trips
}

// tripped waits for a trip.
func tripped(t *testing.T, trips <-chan time.Time) time.Time {
	t.Helper()
	select {
	case at := <-trips:
		return at
	case <-time.After(patience):
		t.Fatal("no trip")
		return time.Time{}
	}
}

// bind opens a socket and binds it.
func bind(t *testing.T, kind int, addr unix.Sockaddr) int {
	t.Helper()
	family := unix.AF_INET
	if _, ok := addr.(*unix.SockaddrInet6); ok {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, addr); err != nil {
		t.Fatal(err)
	}
	return fd
}

// TestWire proves that the end of each kind of server's socket trips, and that
// no other's does.
func TestWire(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	local := [4]byte{127, 0, 0, 1}
	tests := []struct {
		name  string
		kind  int
		addr  unix.Sockaddr
		trips bool
	}{
		{"UDP", unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 53, Addr: local}, true},
		{"TCP", unix.SOCK_STREAM, &unix.SockaddrInet4{Port: 53, Addr: local}, true},
		{"UDP on every address", unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 53}, true},
		{"UDP on every address of both families", unix.SOCK_DGRAM, &unix.SockaddrInet6{Port: 53}, true},
		{"TCP on every address of both families", unix.SOCK_STREAM, &unix.SockaddrInet6{Port: 53}, true},
		{"UDP on another address", unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 53, Addr: [4]byte{127, 0, 0, 2}}, false},
		{"UDP on another port", unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 54, Addr: local}, false},
	}
	_, trips := lay(t, server)
	marker := func() { unix.Close(bind(t, unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 53, Addr: local})) }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fd := bind(t, tt.kind, tt.addr)
			if tt.kind == unix.SOCK_STREAM {
				if err := unix.Listen(fd, 1); err != nil {
					t.Fatal(err)
				}
			}
			unix.Close(fd)
			if tt.trips {
				tripped(t, trips)
				return
			}
			// What comes next trips, and nothing before it has.
			marked := time.Now()
			marker()
			if at := tripped(t, trips); at.Before(marked) {
				t.Error("it tripped")
			}
			if len(trips) > 0 {
				t.Error("it tripped afterwards")
			}
		})
	}
}

// TestWireApart proves that many ends at once are no more than a trip every
// 200 ms, that the last is not forgotten, and that an overrun is a trip.
func TestWireApart(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	w, trips := lay(t, server)
	overran := func() {
		if err := w.socket.control(func(fd int) error {
			return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 1)
		}); err != nil {
			t.Fatal(err)
		}
	}
	overran()
	addr := &unix.SockaddrInet4{Port: 53, Addr: [4]byte{127, 0, 0, 1}}
	first := time.Now()
	for time.Since(first) < time.Second {
		unix.Close(bind(t, unix.SOCK_DGRAM, addr))
	}
	last := time.Now()
	var all []time.Time
	for {
		at := tripped(t, trips)
		all = append(all, at)
		if at.After(last) {
			break
		}
	}
	for i := range all[1:] {
		if gap := all[i+1].Sub(all[i]); gap < apart {
			t.Errorf("two trips within %v", gap)
		}
	}
	if len(all) < 3 {
		t.Errorf("%d trips within a second", len(all))
	}
}

// TestWireEnds proves that a closed wire and the end of its context end a run.
func TestWireEnds(t *testing.T) {
	w, err := Open(server)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := w.Run(t.Context(), func() {}); err == nil {
		t.Error("a closed wire runs")
	}
	if _, err := Open(); err == nil {
		t.Error("a wire without a server is open")
	}
}

// TestWireUnprivileged proves that a wire needs no privilege.
func TestWireUnprivileged(t *testing.T) {
	const asked = "RECUSE_TEST_UNPRIVILEGED"
	if os.Getenv(asked) != "" {
		w, err := Open(server)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		return
	}
	netnstest.Need(t)
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "tripwire") // One that others may enter.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/test", binary, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), dir+"/test", "-test.run=^TestWireUnprivileged$", "-test.v=true")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), asked+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestExplain proves that an error of the kernel comes with a way out.
func TestExplain(t *testing.T) {
	for err, want := range map[error]string{
		unix.EPROTONOSUPPORT: "CONFIG_INET_DIAG", unix.ENOENT: "udp_diag", unix.EPERM: "RestrictAddressFamilies",
	} {
		if got := explain(err).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want one with %q", err, got, want)
		}
	}
	if got := explain(unix.EMFILE); got != unix.EMFILE {
		t.Errorf("%v became %v", unix.EMFILE, got)
	}
}

// churn opens and closes what a busy resolver and its clients do, n of each:
// TCP connections to port 53, and UDP sockets that ask upstream. It returns how
// long that took.
func churn(t *testing.T, n int) time.Duration {
	t.Helper()
	l, err := net.Listen("tcp", server.String())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	begin := time.Now()
	for range n {
		c, err := net.Dial("tcp", server.String())
		if err != nil {
			t.Fatal(err)
		}
		// A reset leaves no socket that waits, so ports do not run out.
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
		u, err := net.ListenUDP("udp4", nil)
		if err != nil {
			t.Fatal(err)
		}
		u.Close()
	}
	took := time.Since(begin)
	t.Cleanup(func() { l.Close() })
	return took
}

// TestWireAsleep proves that neither 5,000 TCP clients nor as many sockets of a
// resolver wake the process, although the kernel tells of them all.
func TestWireAsleep(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	const n = 5000
	w, trips := lay(t, server)
	everything, err := assemble(everythingPasses)
	if err != nil {
		t.Fatal(err)
	}
	all, err := listen(everything)
	if err != nil {
		t.Fatal(err)
	}
	defer all.close()
	told := make(chan int, 1)
	if err := all.readBy(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	go func() {
		count, buf := 0, make([]byte, messageMost)
		for count < 2*n {
			_, err := all.read(buf)
			if isTimeout(err) {
				break
			}
			count++
		}
		told <- count
	}()
	took := churn(t, n)
	if got := <-told; got < n {
		t.Errorf("the kernel told of %d sockets, want at least %d", got, n)
	}
	if got := w.wakes.Load(); got != 0 || len(trips) > 0 {
		t.Errorf("%d wake-ups and %d trips", got, len(trips))
	}
	t.Logf("%d TCP clients and %d UDP sockets within %v: %d wake-ups", n, n, took.Round(time.Millisecond), w.wakes.Load())
	unix.Close(bind(t, unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 53, Addr: [4]byte{127, 0, 0, 1}}))
	tripped(t, trips)
	if got := w.wakes.Load(); got != 1 {
		t.Errorf("%d wake-ups after a server's socket, want 1", got)
	}
}

// median returns the median of times.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
