package bfd

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Scheduling is how the kernel shares the processor with this process, which
// decides how late its packets may leave on a busy machine.
type Scheduling struct {
	// Policy is the kernel's name, such as "SCHED_OTHER" or "SCHED_FIFO", or
	// "mixed" if the threads of the process differ.
	Policy   string
	Priority int // of the real-time policies, 1 to 99
	Nice     int // of the others
}

// policyNames are the names of sched(7), by number.
var policyNames = map[uint32]string{
	unix.SCHED_NORMAL: "SCHED_OTHER",
	unix.SCHED_FIFO:   "SCHED_FIFO",
	unix.SCHED_RR:     "SCHED_RR",
	unix.SCHED_BATCH:  "SCHED_BATCH",
	unix.SCHED_IDLE:   "SCHED_IDLE",
}

// Realtime reports whether all of the process goes before ordinary ones.
func (s Scheduling) Realtime() bool {
	return s.Policy == "SCHED_FIFO" || s.Policy == "SCHED_RR"
}

// String returns the policy with its priority or its niceness.
func (s Scheduling) String() string {
	if s.Realtime() {
		return fmt.Sprintf("%s %d", s.Policy, s.Priority)
	}
	return fmt.Sprintf("%s nice %d", s.Policy, s.Nice)
}

// CurrentScheduling looks at every thread of this process: the goroutines of
// an engine may run on any.
func CurrentScheduling() (Scheduling, error) {
	var all Scheduling
	err := eachThread(func(tid int) error {
		s, err := threadScheduling(tid)
		switch {
		case err != nil:
			return err
		case all.Policy == "":
			all = s
		case all != s:
			all.Policy = "mixed"
		}
		return nil
	})
	if err != nil {
		return Scheduling{}, fmt.Errorf("failed to read the scheduling of the process: %w", err)
	}
	return all, nil
}

// threadScheduling returns that of one thread.
func threadScheduling(tid int) (Scheduling, error) {
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return Scheduling{}, err
	}
	name := policyNames[a.Policy]
	if name == "" {
		name = fmt.Sprintf("policy %d", a.Policy)
	}
	return Scheduling{Policy: name, Priority: int(a.Priority), Nice: int(a.Nice)}, nil
}

// SetRealtime puts every thread of this process, and by inheritance each later
// one, under SCHED_RR with a priority of 1 to 99. It needs CAP_SYS_NICE or a
// sufficient RLIMIT_RTPRIO; CPUSchedulingPolicy=rr in a systemd unit does the
// same from outside and needs neither.
//
// All threads and not only some, since Go moves goroutines between them and
// any may be what a packet waits for. SCHED_RR and not SCHED_FIFO, under which
// as many busy goroutines as there are processors would keep Go's own monitor
// thread from ever running, and so from ever taking a processor from them.
//
// Processes that this one starts inherit the policy. A goroutine without end
// starves the rest of the machine but for the few percent that the kernel
// keeps back: set RLIMIT_RTTIME (LimitRTTIME= in the unit) to bound it.
func SetRealtime(priority int) error {
	a := &unix.SchedAttr{Policy: unix.SCHED_RR, Priority: uint32(priority)}
	if err := setScheduling(a); err != nil {
		return fmt.Errorf("failed to set SCHED_RR %d "+
			"(CPUSchedulingPolicy=rr in the unit, or CAP_SYS_NICE, allows it): %w", priority, err)
	}
	return nil
}

// setScheduling sets every thread. A thread that is born meanwhile may have
// been cloned from one that was not set yet, so it goes on until a pass finds
// nothing left to do.
func setScheduling(a *unix.SchedAttr) error {
	a.Size = unix.SizeofSchedAttr
	const passes = 10
	for range passes {
		changed := false
		err := eachThread(func(tid int) error {
			have, err := unix.SchedGetAttr(tid, 0)
			if err != nil || have.Policy == a.Policy && have.Priority == a.Priority {
				return err
			}
			changed = true
			return unix.SchedSetAttr(tid, a, 0)
		})
		if err != nil || !changed {
			return err
		}
	}
	return errors.New("threads are born faster than they can be set")
}

// eachThread calls f for every thread of this process. A thread that has
// ended meanwhile is no error.
func eachThread(f func(tid int) error) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := f(tid); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}
