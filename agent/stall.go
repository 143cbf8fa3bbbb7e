package agent

import (
	"time"

	"recuse/probe"
)

// lookForStall forgets what is known of every service if this goroutine runs so
// much later than it should that it may not be true any more (design section 4).
// It was the whole process that did not run: if it were the loop alone, the
// watchdog would have ended the process.
func (l *loop) lookForStall(late time.Duration) {
	if late <= probe.StallMost {
		return
	}
	l.log.Warn("the agent was stopped or not scheduled: every check begins anew",
		"seconds", late.Seconds())
	for _, s := range l.services {
		s.forget(late)
	}
}

// forget takes back what the checks have said. Their runners find out about the
// stall by themselves, but later than the next decision.
func (s *service) forget(stall time.Duration) {
	s.stalled = true
	unknown := probe.Anew(stall)
	for _, c := range s.checks {
		c.last.Verdict = unknown
	}
	for _, one := range s.paths {
		one.last.Verdict = unknown
	}
}
