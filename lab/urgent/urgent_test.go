package urgent

import (
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/netlinkx/netnstest"
)

// all reports whether every thread is an ordinary one, never a real-time one (see
// niceness), that is so nice.
func all(nice int32) bool {
	for _, tid := range threads() {
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && (a.Policy != unix.SCHED_NORMAL || a.Nice != nice) {
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
	netnstest.Need(t)
	processors := runtime.GOMAXPROCS(0)
	end, again := Begin(), Begin()
	if n := runtime.GOMAXPROCS(0); n != processors+3 {
		t.Errorf("%d processors of Go's, want three more than %d", n, processors)
	}
	eventually(t, "all threads urgent", func() bool { return all(niceness) })
	release := moreThreads(20)
	eventually(t, "new threads urgent", func() bool { return all(niceness) })
	release()
	out, err := exec.Command("sh", "-c", "cut -d' ' -f19,41 /proc/self/stat").Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "0 0" {
		t.Errorf("a child's niceness and policy are %q, %v; want 0 0, an ordinary one's", got, err)
	}
	again()
	if n := runtime.GOMAXPROCS(0); n != processors+2 {
		t.Errorf("%d processors of Go's for one, want two more than %d", n, processors)
	}
	eventually(t, "still urgent for the one who has not ended", func() bool { return all(niceness) })
	end()
	if !all(0) {
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

// TestThread makes one thread a real-time one, which it stays beside the others
// that are looked for, and whose children are ordinary.
func TestThread(t *testing.T) {
	netnstest.Need(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not given back: the thread ends
		Thread()
		hurry()
		if a, err := unix.SchedGetAttr(0, 0); err != nil || a.Policy != unix.SCHED_RR || a.Priority != priority {
			t.Errorf("scheduled as %+v, %v", a, err)
		}
		out, err := exec.Command("sh", "-c", "cut -d' ' -f19,41 /proc/self/stat").Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != "0 0" {
			t.Errorf("a child's niceness and policy are %q, %v; want 0 0, an ordinary one's", got, err)
		}
		if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack > 1 {
			t.Errorf("timer slack of %d ns, %v; want 1, or none as real-time threads have it", slack, err)
		}
	}()
	<-done
}
