package probe

import "time"

// refusedAfter is how soon the probe after a refused one leaves. A refusal is
// the kernel's own word that nobody listens, so little is left to wait for.
const refusedAfter = 5 * time.Millisecond

// schedule says when the next probe of a check leaves. It is a plain value.
//
// Steady probes leave on a grid, one every interval, whatever became of the
// earlier ones. Under suspicion one leaves every fast interval. While there is
// some evidence of gray failure one leaves every watchPace. Only a check
// that is Ready can be suspected: a fallen one has nothing to lose, and its
// return is never looked at faster than the interval.
type schedule struct {
	interval, fast time.Duration

	next       time.Time // when the next probe leaves
	last       time.Time // when the last one left
	suspicious bool
	watched    bool
	tripped    time.Time // when a trip last started or renewed the suspicion
}

// newSchedule returns the schedule of a check whose first probe leaves at now.
func newSchedule(c Check, now time.Time) schedule {
	fast := c.FastInterval
	if fast <= 0 || fast > c.Interval {
		fast = c.Interval
	}
	return schedule{interval: c.Interval, fast: fast, next: now}
}

// sent notes that a probe left at now.
func (s schedule) sent(now time.Time) schedule {
	s.last = now
	switch {
	case s.suspicious && now.Sub(s.tripped) < refusedAfter:
		// What tripped may be the first of a process's sockets to go, and the probe
		// have reached the last. So a second look follows closely.
		s.next = now.Add(min(refusedAfter, s.fast))
		return s
	case s.suspicious:
		s.next = now.Add(s.fast)
		return s
	}
	s.next = s.next.Add(s.pace())
	if !s.next.After(now) {
		// A wait for the budget or a stall is not made up for in a burst.
		s.next = now.Add(s.pace())
	}
	return s
}

// pace returns the time between probes without suspicion.
func (s schedule) pace() time.Duration {
	if s.watched {
		return min(s.interval, max(s.fast, watchPace))
	}
	return s.interval
}

// watch begins or ends the closer look at what may be a gray failure.
func (s schedule) watch(on bool) schedule {
	if on == s.watched {
		return s
	}
	s.watched = on
	if on || !s.suspicious {
		s = s.by(s.last.Add(s.pace()))
	}
	return s
}

// after notes a result that came at now and led to the verdict v. The flag
// late says that a probe which v would still count is out for too long.
func (s schedule) after(v Verdict, res Result, late bool, now time.Time) schedule {
	switch {
	case !v.Ready || v.Level == Unknown:
		return s.calm()
	case v.Fails == 0 && res.Cause == Passed && !res.Late && !late && !res.Sent.Before(s.tripped):
		return s.calm()
	case v.Fails > 0 && res.Cause == Refused:
		return s.doubt(now).by(now.Add(refusedAfter))
	case v.Fails > 0 && res.Cause.failed():
		return s.doubt(now)
	}
	return s
}

// doubt starts suspicion: the next probe leaves a fast interval from now, or
// sooner if suspicion lasts already.
func (s schedule) doubt(now time.Time) schedule {
	s.suspicious = true
	return s.by(now.Add(s.fast))
}

// trip starts suspicion with a probe that leaves at once.
func (s schedule) trip(now time.Time) schedule {
	s.suspicious, s.tripped = true, now
	return s.by(now)
}

// calm ends suspicion: the next probe leaves at the steady pace after the last.
func (s schedule) calm() schedule {
	if s.suspicious {
		s.suspicious = false
		s.next = s.last.Add(s.pace())
	}
	return s
}

// by makes the next probe leave at t unless it leaves sooner.
func (s schedule) by(t time.Time) schedule {
	if t.Before(s.next) {
		s.next = t
	}
	return s
}
