package load

import (
	"golang.org/x/sys/unix"
)

// beUrgent lets this thread run as soon as it is due, before ordinary ones: the
// clients are not part of the box that is measured, and would not wait for it.
// Where it is not allowed, the thread stays an ordinary one, and its lateness
// tells whether that mattered.
func beUrgent() {
	// Waits end when they are over, and not up to 50 us later.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	if err != nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
	}
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
	limit.Cur, limit.Max = need, max(need, limit.Max)
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		return
	}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max // not root: as far as allowed
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
}
