package probe

import (
	"fmt"
	"time"
)

const (
	// stallMin is how late the owner must be for a stall: less happens on a busy
	// box all the time.
	stallMin = 200 * time.Millisecond
	// StallMost is the longest stall after which what was known is still true.
	StallMost = 3 * time.Second
	// pulse is the most time for which the owner sleeps, so that a stall is seen
	// to begin then at the latest.
	pulse = 500 * time.Millisecond
)

// woke notes that the owner woke at now, when its timer was set for armed.
func (s *run) woke(now time.Time) {
	s.awake = now
	s.stalled(now.Sub(s.armed), now)
}

// rest notes that the owner has done at now what it woke for.
func (s *run) rest(now time.Time) { s.stalled(now.Sub(s.awake), now) }

// stalled takes note that for so long nothing was done that should have been.
// Whatever is out now says more of this process than of the server, so it is
// thrown away; after a long stall, all that was known.
func (s *run) stalled(d time.Duration, now time.Time) {
	if d <= stallMin {
		return
	}
	for f := range s.flights {
		f.void, f.late = true, true
	}
	s.verdict = s.verdict.stalled(d)
	if d > StallMost {
		s.beginAnew(d, now)
	}
}

// beginAnew forgets what was known, and reports that.
func (s *run) beginAnew(stall time.Duration, now time.Time) {
	was := s.verdict.Level
	s.verdict = Anew(stall)
	s.plan = newSchedule(s.check, now)
	s.tell(was)
}

// Anew is the verdict after a stall of more than StallMost: nothing is known.
func Anew(stall time.Duration) Verdict {
	return Verdict{Reason: fmt.Sprintf("stalled for %.1f s: begins anew", stall.Seconds())}
}
