package urgent

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// need skips the test where real-time priorities are not allowed, or fails it
// where nothing may be skipped.
func need(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 && os.Getenv("RECUSE_TEST_UNPRIVILEGED") != "1" {
		return
	}
	if os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1" {
		t.Fatal("real-time priorities need root")
	}
	t.Skip("skipped: real-time priorities need root")
}

// all reports whether every thread has the policy.
func all(policy uint32) bool {
	for _, tid := range threads() {
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Policy != policy {
			return false
		}
	}
	return true
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if <-tick.C; time.Now().After(deadline) {
			t.Fatalf("failed to see %s", what)
		}
	}
}

// TestUrgent begins twice and ends twice, and looks at all threads in between,
// at those that come meanwhile, and at a child.
func TestUrgent(t *testing.T) {
	need(t)
	processors := runtime.GOMAXPROCS(0)
	end, again := Begin(), Begin()
	if n := runtime.GOMAXPROCS(0); n != processors+1 {
		t.Errorf("%d processors of Go's, want one more than %d", n, processors)
	}
	eventually(t, "all threads urgent", func() bool { return all(unix.SCHED_RR) })
	release := moreThreads(20)
	eventually(t, "new threads urgent", func() bool { return all(unix.SCHED_RR) })
	release()
	out, err := exec.Command("sh", "-c", "cut -d' ' -f41 /proc/self/stat").Output()
	if fields := strings.Fields(string(out)); err != nil || len(fields) == 0 || fields[len(fields)-1] != "0" {
		t.Errorf("a child's policy is %q, %v; want 0, an ordinary one's", fields[max(len(fields)-1, 0):], err)
	}
	again()
	eventually(t, "still urgent for the one who has not ended", func() bool { return all(unix.SCHED_RR) })
	end()
	if !all(unix.SCHED_NORMAL) {
		t.Error("not all threads are ordinary after the end")
	}
	if n := runtime.GOMAXPROCS(0); n != processors {
		t.Errorf("%d processors of Go's after the end, want %d", n, processors)
	}
}

// moreThreads holds so many threads until release.
func moreThreads(n int) (release func()) {
	var here, gone sync.WaitGroup
	quit := make(chan struct{})
	here.Add(n)
	for range n {
		gone.Go(func() {
			runtime.LockOSThread() // not given back: the thread ends
			here.Done()
			<-quit
		})
	}
	here.Wait()
	return func() {
		close(quit)
		gone.Wait()
	}
}

// TestThread makes one thread urgent by itself, and no more urgent than the
// others are: see priority.
func TestThread(t *testing.T) {
	need(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not given back: the thread ends
		Thread()
		if a, err := unix.SchedGetAttr(0, 0); err != nil || a.Policy != unix.SCHED_RR || a.Priority != priority {
			t.Errorf("scheduled as %+v, %v", a, err)
		}
		// Newer kernels say 0 of a real-time thread, whatever was set.
		if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack > 1 {
			t.Errorf("timer slack of %d ns, %v; want 1 at most", slack, err)
		}
	}()
	<-done
}
