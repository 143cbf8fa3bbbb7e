package agent

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		p.beat()
		ctx, end := context.WithCancel(context.Background())
		defer end()
		start := time.Now()
		result := make(chan error, 1)
		go func() { result <- p.watch(ctx) }()
		for range 20 {
			time.Sleep(pulseEvery)
			p.beat()
		}
		synctest.Wait()
		select {
		case err := <-result:
			t.Fatalf("a running loop is called stuck: %v", err)
		default:
		}
		stuckAt := time.Since(start)
		if err := <-result; !errors.Is(err, ErrStuck) {
			t.Errorf("unexpected end: %v", err)
		}
		if d := time.Since(start) - stuckAt; d < stuckAfter ||
			d > stuckAfter+2*pulseEvery {
			t.Errorf("unexpected delay: %s", d)
		}
	})
}

// TestLoopPulses proves that an idle loop shows that it runs, and says nothing.
func TestLoopPulses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.begin()
		defer w.finish()
		for range 100 {
			time.Sleep(137 * time.Millisecond)
			if d := w.loop.pulse.silent(); d > pulseEvery {
				t.Fatalf("silent for %s", d)
			}
		}
		// The test holds the loop by its own means.
		hold := make(chan struct{})
		go func() {
			_ = w.loop.call(context.Background(), func() { <-hold })
		}()
		time.Sleep(stuckAfter)
		if w.loop.pulse.alive() {
			t.Error("a held loop is called alive")
		}
		close(hold)
	})
}

// supervisor listens as systemd does, and tells the environment where.
func supervisor(t *testing.T) (path string, l *net.UnixConn) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path,
		Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return path, l
}

func TestNotify(t *testing.T) {
	_, l := supervisor(t)
	t.Setenv("WATCHDOG_USEC", "2000000")
	n := newNotifier()
	read := func() string {
		if err := l.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		k, err := l.Read(b)
		if err != nil {
			return ""
		}
		return string(b[:k])
	}
	if err := n.send("READY=1"); err != nil || read() != "READY=1" {
		t.Errorf("no word of readiness: %v", err)
	}
	pings := 0
	for i := range 10 { // five seconds
		if err := n.ping(t0.Add(time.Duration(i) * pulseEvery)); err != nil {
			t.Fatal(err)
		}
	}
	for read() == "WATCHDOG=1" {
		pings++
	}
	if pings != 5 {
		t.Errorf("unexpected number of pings in 5 s: %d", pings)
	}
}

// TestNotifyKeepsTheWay proves that a ping needs nothing new of the system: a
// process without a file descriptor left must not be taken for stuck.
func TestNotifyKeepsTheWay(t *testing.T) {
	path, _ := supervisor(t)
	n := newNotifier()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := n.send("WATCHDOG=1"); err != nil {
		t.Error(err)
	}
}

// TestNotifyDoesNotWait fills the queue of a supervisor that does not read.
func TestNotifyDoesNotWait(t *testing.T) {
	supervisor(t)
	n := newNotifier()
	for range 100_000 {
		if err := n.send("WATCHDOG=1"); err != nil {
			return
		}
	}
	t.Error("a queue without end")
}

func TestNotifyNobody(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	n := newNotifier()
	if err := n.send("READY=1"); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	if err := n.ping(t0); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
}
