// Package urgent makes this process run before ordinary ones while it measures
// or stands for a part of the network: neither the clients nor a wire are part
// of the box that is measured, and would not wait for it.
package urgent

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// niceness is that of urgent threads. They are not all real-time ones: Go's
// threads spin for what others of them hold, and a new thread is an ordinary one
// until it is looked for, so as many spinning real-time threads as the box has
// cores keep it from running. That stopped this process for nearly a second at a
// time, which is when the kernel's real-time throttling lets ordinary threads have
// a little, and two such processes held a box for a quarter of an hour. A nice
// thread is let run by any other in the end. It goes before those of its own
// session; sessions share the box evenly (autogroups, sched(7)).
const niceness = -20

// priority is that of the one real-time thread, the least.
const priority = 1

// slice is what an urgent thread wants to run for at a time: who wants less is let
// run sooner (Linux 6.12; older kernels do not look at it).
const slice = 100 * time.Microsecond

// every is how often new threads are looked for.
const every = 200 * time.Millisecond

// state is the process's urgency. It has to be that of all threads, for Go
// passes its work from one to another, and each waits for that. There are more of
// Go's processors than before: one for each user, whose thread may keep it while
// it waits in the kernel, and one for the others, which leave and take one each
// time.
var state struct {
	mu         sync.Mutex
	users      int
	processors int // before
	stop, done chan struct{}
}

// Begin makes the process urgent until the function that it returns, which is
// to be called once, has been called as often as Begin was. Child processes do
// not inherit the urgency. Where it is not allowed (CAP_SYS_NICE) the threads
// stay ordinary ones: whoever measures also measures its own lateness.
func Begin() (end func()) {
	s := &state
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	if s.users == 1 {
		s.processors = runtime.GOMAXPROCS(0)
	}
	runtime.GOMAXPROCS(s.processors + 1 + s.users)
	if s.users == 1 {
		s.stop, s.done = make(chan struct{}), make(chan struct{})
		spare()
		hurry()
		go stay(s.stop, s.done)
	}
	return calm
}

// calm ends one use, and with the last one the urgency.
func calm() {
	s := &state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		runtime.GOMAXPROCS(s.processors + 1 + s.users)
		return
	}
	close(s.stop)
	<-s.done
	for _, tid := range threads() {
		schedule(tid, false)
	}
	runtime.GOMAXPROCS(s.processors)
}

// Thread makes the calling thread a real-time one, before all ordinary ones of
// the box, and its waits end when they are over and not up to 50 us later. Where
// that is not allowed it is as urgent as the others. The goroutine must be locked
// to it for good, and there should be one of them.
func Thread() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: priority,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, &a, 0) != nil {
		schedule(0, true)
	}
}

// spare makes Go have some threads in hand, so that none that is not urgent yet
// has to be made when it matters.
func spare() {
	const count = 8
	var here sync.WaitGroup
	here.Add(count)
	for range count {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here.Done()
			here.Wait()
		}()
	}
	here.Wait()
}

// stay makes threads urgent, as they come, until stop.
func stay(stop, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(every)
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
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Policy == unix.SCHED_NORMAL && a.Nice != niceness {
			schedule(tid, true)
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

// schedule makes a thread (0: this one) urgent or ordinary. It may not be
// allowed, and the thread may be gone.
func schedule(tid int, urgent bool) {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	if urgent {
		a.Nice, a.Runtime, a.Flags = niceness, uint64(slice), unix.SCHED_FLAG_RESET_ON_FORK
	}
	_ = unix.SchedSetAttr(tid, &a, 0)
}
