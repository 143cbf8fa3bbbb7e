package cable

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"recuse/netlinkx/netnstest"
)

// eventually polls until the condition holds; it may take long on a busy box.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if <-tick.C; time.Now().After(deadline) {
			t.Fatalf("failed to see: %s", what)
		}
	}
}

func TestCableCarries(t *testing.T) {
	b := wired(t)
	for _, to := range []string{rightIP, rightIP6} {
		rtts := b.newPinger(t, to).rtts(t, 50)
		if rtts[25] > 100*time.Millisecond {
			t.Errorf("%s: median round trip %v over a cable without delay", to, rtts[25])
		}
	}
	c := b.Counters()
	for _, f := range []Flow{c.AB, c.BA} {
		if f.In < 100 || f.Lost+f.Cut+f.Overflowed+f.Failed != 0 {
			t.Errorf("counted %+v", f)
		}
	}
}

func TestCableDelay(t *testing.T) {
	b := wired(t)
	p4, p6 := b.newPinger(t, rightIP), b.newPinger(t, rightIP6)
	p4.rtts(t, 1) // learns the neighbour
	p6.rtts(t, 1)
	tests := []struct {
		ab, ba time.Duration
	}{{ms(100), ms(100)}, {ms(20), 0}, {0, ms(50)}}
	for _, tt := range tests {
		if err := b.ShapeWays(Shape{Delay: tt.ab}, Shape{Delay: tt.ba}); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*pinger{p4, p6} {
			want := tt.ab + tt.ba
			rtts := p.rtts(t, 9)
			if rtts[0] < want || rtts[4] > want+100*time.Millisecond {
				t.Errorf("delays %v: round trips %v", tt, rtts)
			}
		}
	}
	if err := b.Shape(Shape{Loss: 30}); err == nil || err.Error() !=
		"failed to shape cable: loss: 30: must be between 0 and 1\nloss: 30: must be between 0 and 1" {
		t.Errorf("error %v for a loss of 30", err)
	}
}

// TestCableLoss sends one way, over a cable that loses on that way only.
func TestCableLoss(t *testing.T) {
	b := wired(t)
	to := b.listen(t)
	from := b.dial(t, to)
	b.newPinger(t, rightIP).rtts(t, 1)
	const n = 3000
	for _, loss := range []float64{0, 0.3, 1} {
		before := b.Counters()
		if err := b.ShapeWays(Shape{Loss: loss}, Shape{}); err != nil {
			t.Fatal(err)
		}
		for range n {
			if _, err := from.Write([]byte("frame")); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "all frames enter", func() bool { return b.Counters().AB.In >= before.AB.In+n })
		if err := b.Shape(Shape{}); err != nil {
			t.Fatal(err)
		}
		got := drain(t, from, to)
		sd := math.Sqrt(n * loss * (1 - loss))
		if math.Abs(float64(n-got)-n*loss) > 5*sd {
			t.Errorf("loss %v: %d of %d came", loss, got, n)
		}
		// A few frames more may be the hosts' own.
		if c := b.Counters(); int(c.AB.Lost-before.AB.Lost) < n-got || c.BA.Lost != 0 {
			t.Errorf("loss %v: %d of %d came, counted %+v", loss, got, n, c)
		}
	}
}

// drain counts what has come before a last datagram, sent over a cable that no
// longer loses.
func drain(t *testing.T, from, to *net.UDPConn) (n int) {
	t.Helper()
	if _, err := from.Write([]byte("end")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 2000)
	if err := to.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		size, err := to.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if string(buf[:size]) == "end" {
			return n
		}
		n++
	}
}

func TestCableCut(t *testing.T) {
	b := wired(t)
	p := b.newPinger(t, rightIP)
	p.rtts(t, 1)
	for range 3 {
		if err := b.Shape(Shape{Cut: true}); err != nil {
			t.Fatal(err)
		}
		out := b.Counters()
		if rtt, err := p.ping(100 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a reply after %v, %v over a cut cable", rtt, err)
		}
		if c := b.Counters(); c.AB.Out != out.AB.Out || c.BA.Out != out.BA.Out || c.AB.Cut == out.AB.Cut {
			t.Errorf("counted %+v at the cut and %+v after it", out, c)
		}
		for _, s := range []*space{b.left, b.right} {
			if link, err := s.link.LinkByName("e0"); err != nil || link.Attrs().OperState != netlink.OperUp {
				t.Errorf("the interface of a host is %v, %v", link, err)
			}
		}
		if err := b.Shape(Shape{}); err != nil {
			t.Fatal(err)
		}
		p.rtts(t, 3)
	}
}

// TestCableQueue fills a small queue: what has no room is lost and counted, the
// rest comes after the delay.
func TestCableQueue(t *testing.T) {
	b := wired(t)
	to := b.listen(t)
	from := b.dial(t, to)
	b.newPinger(t, rightIP).rtts(t, 1)
	const n, room, size = 200, 20, 1000
	frame := vnetLen + etherLen + 20 + 8 + size
	if err := b.ShapeWays(Shape{Delay: 2 * time.Second, Queue: room*frame + frame/2}, Shape{}); err != nil {
		t.Fatal(err)
	}
	before := b.Counters().AB
	for range n {
		if _, err := from.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all frames enter", func() bool { return b.Counters().AB.In >= before.In+n })
	f := b.Counters().AB
	// The hosts may say a word of their own, which takes room too.
	if f.Overflowed < n-room || f.Waiting > room+1 || f.In != sum(f) {
		t.Errorf("counted %+v", f)
	}
	eventually(t, "the queue empty", func() bool { return b.Counters().AB.Waiting == 0 })
	if err := b.Shape(Shape{}); err != nil {
		t.Fatal(err)
	}
	if got := drain(t, from, to); got > room || got < room-5 {
		t.Errorf("%d of %d datagrams came, room is for %d", got, n, room)
	}
}

// TestCableDatagrams sends what just fits into a frame, which must not be
// fragmented, and what needs many fragments, over IPv4 and IPv6, both ways.
func TestCableDatagrams(t *testing.T) {
	b := wired(t)
	tests := []struct {
		name, left, right string
		size              int
		whole             bool
	}{
		{"IPv4, MTU", leftIP, rightIP, 1500 - 28, true},
		{"IPv6, MTU", leftIP6, rightIP6, 1500 - 48, true},
		{"IPv4, fragments", leftIP, rightIP, 65507, false},
		{"IPv6, fragments", leftIP6, rightIP6, 65000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to, from := b.listen(t), net.Conn(nil)
			forward := net.JoinHostPort(tt.right, fmt.Sprint(port(to)))
			b.left.must(t, func() (err error) {
				d := net.Dialer{}
				if tt.whole {
					d.Control = unfragmented
				}
				from, err = d.Dial("udp", forward)
				return err
			})
			defer from.Close()
			out := make([]byte, tt.size)
			_, _ = rand.NewChaCha8([32]byte{}).Read(out)
			echo(t, from, to, out)
		})
	}
	c := b.Counters()
	// 45 fragments each way of each large datagram.
	for _, f := range []Flow{c.AB, c.BA} {
		if f.In < 2*45 || f.Overflowed+f.Failed != 0 {
			t.Errorf("counted %+v", f)
		}
	}
}

// echo sends a datagram there and back.
func echo(t *testing.T, from net.Conn, to *net.UDPConn, out []byte) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	if err := errors.Join(from.SetDeadline(deadline), to.SetDeadline(deadline)); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Write(out); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<16)
	n, back, err := to.ReadFrom(buf)
	if err != nil || !bytes.Equal(buf[:n], out) {
		t.Fatalf("%d bytes came, %v; %d were sent", n, err, len(out))
	}
	if _, err := to.WriteTo(buf[:n], back); err != nil {
		t.Fatal(err)
	}
	if n, err = from.Read(buf); err != nil || !bytes.Equal(buf[:n], out) {
		t.Fatalf("%d bytes came back, %v; %d were sent", n, err, len(out))
	}
}

// TestCableClose shows that a closed cable carries nothing, and that nothing of
// it is left.
func TestCableClose(t *testing.T) {
	b := wired(t)
	p := b.newPinger(t, rightIP)
	p.rtts(t, 1)
	files, routines := openFiles(t), runtime.NumGoroutine()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if n := openFiles(t); n != files-4 {
		t.Errorf("%d files open with the cable, %d after its end: want 4 fewer", files, n)
	}
	eventually(t, "the cable's four goroutines end", func() bool { return runtime.NumGoroutine() <= routines-4 })
	if _, err := p.ping(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v over a closed cable", err)
	}
	if err := b.Shape(Shape{Delay: 1}); err != nil {
		t.Errorf("a closed cable cannot be shaped: %v", err)
	}
	b.Counters()
	if err := b.Close(); err != nil {
		t.Errorf("error %v of a second close", err)
	}
	// The same interfaces take the next cable.
	for range 5 {
		b.plug(t)
		p.rtts(t, 1)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := openFiles(t); n != files-4 {
		t.Errorf("%d files open after five cables more, want %d", n, files-4)
	}
}

// openFiles counts this process's open files, but for those that the runtime
// opens when it likes.
func openFiles(t *testing.T) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// One that is closed meanwhile is the directory itself.
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.HasPrefix(to, "socket:") || strings.Contains(to, "timerfd") {
			n++
		}
	}
	return n
}

// TestCableLinkDown sets an end down and up again, and deletes it: the cable
// goes on as far as it can, and ends.
func TestCableLinkDown(t *testing.T) {
	b := wired(t)
	p := b.newPinger(t, rightIP)
	p.rtts(t, 1)
	end, err := b.middle.link.LinkByName("b")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.middle.link.LinkSetDown(end); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ping(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v over an end that is down", err)
	}
	eventually(t, "frames fail", func() bool { return b.Counters().AB.Failed > 0 })
	if err := b.middle.link.LinkSetUp(end); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an answer again", func() bool {
		_, err := p.ping(time.Second)
		return err == nil
	})
	if err := b.middle.link.LinkDel(end); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("failed to close a cable without an end: %v", err)
	}
}

func TestNewErrors(t *testing.T) {
	netnstest.Need(t)
	b := &bed{left: newSpace(t), middle: newSpace(t), right: newSpace(t)}
	b.join(t, b.left, "a")
	b.join(t, b.right, "b")
	link, err := b.middle.link.LinkByName("b")
	if err == nil {
		err = b.middle.link.LinkSetMTU(link, 1400)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := openFiles(t)
	gone := errors.New("namespace is closed")
	tests := []struct {
		name, a, b string
		do         func(func() error) error
		want       string
	}{
		{"no interface", "a", "c", b.middle.do, "failed to join a and c: failed to find c: route ip+net: no such network interface"},
		{"two MTUs", "a", "b", b.middle.do, "failed to join a and b: MTU of a is 1500, of b 1400: must be one"},
		{"no namespace", "a", "b", func(func() error) error { return gone }, "failed to join a and b: namespace is closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(tt.do, tt.a, tt.b)
			if c != nil || err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	if n := openFiles(t); n != files {
		t.Errorf("%d files open before, %d after: want as many", files, n)
	}
}
