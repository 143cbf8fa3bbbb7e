package load

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The real-time priorities of a run: the loop's thread before the others.
const (
	urgentOthers = 1
	urgentLoop   = 2
)

// urgency makes the threads of this process run as soon as they have something
// to do, before ordinary ones, while runs are under way: the clients are not
// part of the box that is measured, and would not wait for it. It has to be all
// threads, for Go passes its work from one to another, and the loop waits for
// that; and there is one processor of Go's more, for the loop leaves and takes
// one at every wait. Child processes do not inherit the urgency. Where it is not
// allowed the threads stay ordinary ones, and the run's lateness tells whether
// that mattered.
var urgency struct {
	mu         sync.Mutex
	runs       int
	processors int // before
	stop, done chan struct{}
}

// urgencyEvery is how often new threads are looked for.
const urgencyEvery = 50 * time.Millisecond

// beUrgent makes the process urgent until the function that it returns is called
// as often as it was.
func beUrgent() (calm func()) {
	u := &urgency
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runs++
	if u.runs == 1 {
		u.processors = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(u.processors + 1)
		u.stop, u.done = make(chan struct{}), make(chan struct{})
		spare()
		hurry()
		go stayUrgent(u.stop, u.done)
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.runs--; u.runs > 0 {
			return
		}
		close(u.stop)
		<-u.done
		for _, tid := range threads() {
			schedule(tid, 0)
		}
		runtime.GOMAXPROCS(u.processors)
	}
}

// spare makes Go have some threads in hand, so that none that is not urgent yet
// has to be made when a run has begun.
func spare() {
	const threads = 8
	var here sync.WaitGroup
	here.Add(threads)
	for range threads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here.Done()
			here.Wait()
		}()
	}
	here.Wait()
}

// stayUrgent makes threads urgent, as they come, until stop.
func stayUrgent(stop, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(urgencyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			hurry()
		case <-stop:
			return
		}
	}
}

// hurry makes the threads urgent that are not.
func hurry() {
	for _, tid := range threads() {
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Policy == unix.SCHED_NORMAL {
			schedule(tid, urgentOthers)
		}
	}
}

// threads are the numbers of this process's threads.
func threads() []int {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var all []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, tid)
		}
	}
	return all
}

// schedule gives a thread (0: this one) a real-time priority, or makes it an
// ordinary one. It may not be allowed, and the thread may be gone.
func schedule(tid int, priority uint32) {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	if priority > 0 {
		a.Policy, a.Priority, a.Flags = unix.SCHED_FIFO, priority, unix.SCHED_FLAG_RESET_ON_FORK
	}
	_ = unix.SchedSetAttr(tid, &a, 0)
}

// beUrgentLoop makes this thread more urgent than the process's others, and its
// waits end when they are over and not up to 50 us later.
func beUrgentLoop() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	schedule(0, urgentLoop)
}

// allowFiles raises the limit of open files if a run may need more: at worst all
// questions of some seconds are outstanding. It is left alone where it is
// enough, for child processes get it too, and some (FRR) make tables as large
// as it is.
func allowFiles(rate float64) {
	const seconds, others = 5, 1024
	need := uint64(rate*seconds) + others
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= need {
		return
	}
	more := unix.Rlimit{Cur: need, Max: max(need, limit.Max)}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &more) != nil {
		limit.Cur = limit.Max // as far as is allowed
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
}
