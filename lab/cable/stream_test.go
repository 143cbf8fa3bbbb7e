package cable

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// unfragmented makes a socket send whole packets or fail (IP_MTU_DISCOVER,
// ip(7) and ipv6(7)).
func unfragmented(network, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		if network == "udp4" {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
		} else {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO)
		}
	})
	return errors.Join(err, failed)
}

// stream sends n bytes from the left to the right over TCP, and returns how long
// that took; what arrives must be what was sent.
func (b *bed) stream(t testing.TB, to string, n int64) time.Duration {
	t.Helper()
	var l net.Listener
	b.right.must(t, func() (err error) {
		l, err = net.Listen("tcp", net.JoinHostPort(to, "0"))
		return err
	})
	defer l.Close()
	var conn net.Conn
	b.left.must(t, func() (err error) {
		conn, err = net.DialTimeout("tcp", l.Addr().String(), 30*time.Second)
		return err
	})
	defer conn.Close()
	got := make(chan string, 1)
	go func() { got <- receiveStream(l) }()
	start := time.Now()
	hash := sha256.New()
	from := io.LimitReader(rand.NewChaCha8([32]byte{1}), n)
	err := errors.Join(conn.SetDeadline(start.Add(2*time.Minute)), func() error {
		if _, err := io.CopyBuffer(io.MultiWriter(conn, hash), from, make([]byte, 256<<10)); err != nil {
			return err
		}
		return conn.(*net.TCPConn).CloseWrite()
	}())
	if err != nil {
		t.Fatalf("failed to send: %v", err)
	}
	if got, want := <-got, fmt.Sprintf("%d bytes, %x", n, hash.Sum(nil)); got != want {
		t.Fatalf("received %s, want %s", got, want)
	}
	return time.Since(start)
}

// receiveStream describes all that one connection brings.
func receiveStream(l net.Listener) string {
	conn, err := l.Accept()
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, conn)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d bytes, %x", n, hash.Sum(nil))
}

// TestCableStream carries TCP in segments much larger than a frame, unchanged.
func TestCableStream(t *testing.T) {
	b := wired(t)
	for _, to := range []string{rightIP, rightIP6} {
		b.ForgetLateness()
		before := b.Counters().AB
		const n = 100 << 20
		t.Logf("%s: %.0f MB/s", to, n/1e6/b.stream(t, to, n).Seconds())
		f := b.Counters().AB
		giants, _ := b.Lateness()
		if out := f.Out - before.Out; out < n/1500 || giants.Frames*5 > out {
			t.Errorf("%s: %d frames were carried as %d: want much larger segments", to, out, giants.Frames)
		}
		if f.Failed+f.Overflowed != 0 {
			t.Errorf("%s: counted %+v", to, f)
		}
	}
}

// TestCableStreamLossy carries TCP over a cable that loses frames out of the
// midst of large segments, and delays.
func TestCableStreamLossy(t *testing.T) {
	b := wired(t)
	for _, to := range []string{rightIP, rightIP6} {
		before := b.Counters().AB
		if err := b.ShapeWays(Shape{Loss: 0.02, Delay: ms(2)}, Shape{Delay: ms(1)}); err != nil {
			t.Fatal(err)
		}
		b.stream(t, to, 4<<20)
		f := b.Counters().AB
		in, lost := float64(f.In-before.In), float64(f.Lost-before.Lost)
		if in < 4<<20/1500 || math.Abs(lost-in*0.02) > 5*math.Sqrt(in*0.02) {
			t.Errorf("%s: %v of %v frames lost", to, lost, in)
		}
	}
}
