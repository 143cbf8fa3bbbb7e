package load

import "golang.org/x/sys/unix"

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
