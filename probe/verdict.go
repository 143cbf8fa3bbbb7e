package probe

import (
	"fmt"
	"time"
)

// Defaults of the Rules that are rarely set.
const (
	// DefaultSilentAfter is how long a silence without any sign of life lasts
	// before it means that the service is dead.
	DefaultSilentAfter = 3 * time.Second
	// DefaultUnknownAfter is how long a check may stay unknown because no probe
	// could be made before it counts as sick.
	DefaultUnknownAfter = 60 * time.Second
)

// Rules are the numbers by which a check is judged.
type Rules struct {
	// Fall is how many failures in a row end an OK; Rise how many passes in a
	// row make one. Less than 1 counts as 1.
	Fall, Rise int
	// SilentAfter is how long nothing may show life before failures mean Dead.
	SilentAfter time.Duration
	// UnknownAfter is how long Unknown may last, once probes cannot be made,
	// before it becomes Sick.
	UnknownAfter time.Duration
	// Slow tells gray failure: bad samples that are many but not in a row.
	Slow SlowTest
}

// Verdict is what a check's results say so far. The zero value is the start:
// Unknown and not Ready. It is a plain value: Next and At return a new one.
//
// Rows are counted in the order in which the probes left, not in the order in
// which their results came, since probes overlap:
//
//   - a failure of a probe that left before the newest passed one breaks a row
//     of passes but counts towards no fall: a later look was fine;
//   - a pass of a probe that left before the newest failed one is a sign of
//     life and leaves only that newest failure in the row, but it counts
//     towards no rise.
//
// Beside the rows, every result but a refusal is a sample of the test for gray
// failure (slow.go): bad if it failed or was late.
type Verdict struct {
	// Level is the verdict; Reason is the evidence that led to it.
	Level  Level
	Reason string
	// Fails and Passes count the row of failures and of passes that stands now.
	// At most one of them is more than zero.
	Fails, Passes int
	// Ready is set by Rise passes in a row and lasts until the next fall.
	Ready bool
	// LastLife is when an answer of any content was last seen.
	LastLife time.Time

	row  row
	slow evidence
}

// row is the evidence that stands behind the counts.
type row struct {
	refused int       // refusals in a row, since the last sign of life
	unmade  int       // probes in a row that could not be made
	passed  time.Time // when the newest passed probe left
	failed  time.Time // when the newest failed probe left
	silent  time.Time // since when nothing shows life; zero: it does
	blind   time.Time // when unmade reached Fall; zero: it has not
	outcome string    // the newest failure, for people
	life    string    // what showed life beside the results, for people
}

// Next returns the verdict after one more result.
func (v Verdict) Next(r Rules, res Result) Verdict {
	if res.Alive || res.Cause == Passed {
		v = v.saw(res.Done)
	}
	v = v.sample(r.Slow, res)
	switch {
	case res.Cause == Passed && res.Late && !v.Ready:
		v = v.made()
		v.Fails, v.Passes = 0, 0 // A right answer that is too late makes none rise.
	case res.Cause == Passed:
		v = v.pass(res)
	case res.Cause.failed():
		v = v.fail(res)
	default:
		v = v.skip(r, res)
	}
	return v.At(r, res.Done)
}

// Saw returns the verdict after a sign of life that is no result of a probe:
// an answer to another question, or one that came too late. What it was, for
// people, goes into the reason while failures stand.
func (v Verdict) Saw(r Rules, at time.Time, what string) Verdict {
	v = v.saw(at)
	v.row.life, v.slow.life = what, what
	return v.At(r, at)
}

// At returns the verdict at the time now if no result has come since the last:
// a silence or an Unknown that lasts too long gets worse by time alone.
func (v Verdict) At(r Rules, now time.Time) Verdict {
	switch {
	case v.row.unmade >= atLeastOne(r.Fall):
		return v.judgeUnmade(r, now)
	case v.Fails >= atLeastOne(r.Fall):
		return v.judgeFailing(r, now)
	case v.slow.stuck && (v.Level != Dead || v.row.silent.IsZero()):
		return v.fallen(v.slow.level(), v.slow.reason(v.row.outcome))
	case v.Passes >= atLeastOne(r.Rise) && !v.Ready:
		v.Ready = true
		v.Level, v.Reason = OK, fmt.Sprintf("%d passes in a row", v.Passes)
	case v.Passes > 0 && v.Ready && v.Level == Unknown:
		// Nothing was known for a while, but it has not fallen.
		v.Level, v.Reason = OK, "probes can be made again and pass"
	case v.Level == Dead && v.row.silent.IsZero():
		v.Level, v.Reason = Sick, "shows life again"
	}
	return v
}

// Due returns the time at which At alone would change the level, and whether
// there is one.
func (v Verdict) Due(r Rules) (time.Time, bool) {
	switch {
	case v.row.unmade >= atLeastOne(r.Fall):
		return v.row.blind.Add(r.UnknownAfter), v.Level == Unknown
	case v.Fails >= atLeastOne(r.Fall) && !v.row.silent.IsZero():
		return v.row.silent.Add(r.SilentAfter), v.Level != Dead
	}
	return time.Time{}, false
}

// Late returns the verdict once a probe is late at the time now: it is a bad
// sample from this moment on, if sampled, and its Result must say so. While the
// check is down for another reason it is none before it is answered.
func (v Verdict) Late(r Rules, now time.Time) (next Verdict, sampled bool) {
	if !r.Slow.on() || v.fell() {
		return v, false
	}
	v.slow = v.slow.bad(r.Slow, late, now)
	return v.At(r, now), true
}

// stalled returns the verdict after a time in which nobody looked: it says
// nothing, so a silence does not grow by it.
func (v Verdict) stalled(d time.Duration) Verdict {
	for _, since := range []*time.Time{&v.row.silent, &v.row.blind} {
		if !since.IsZero() {
			*since = since.Add(d)
		}
	}
	return v
}

// watched tells whether a closer look at what may be a gray failure is due.
func (v Verdict) watched() bool { return v.Ready && v.slow.watched() }

// fell tells whether the check is down for another reason than gray failure.
func (v Verdict) fell() bool { return !v.Ready && !v.slow.stuck }

// sample takes a result into the test for gray failure. A refusal is none of
// its samples: where nobody listens nothing is gray.
func (v Verdict) sample(t SlowTest, res Result) Verdict {
	switch bad := res.Cause.failed(); {
	case !t.on() || res.Cause == Unmade || res.Cause == Refused:
	case res.Sampled && bad:
		v.slow = v.slow.recast()
	case res.Sampled:
	case v.fell():
		v.slow = v.slow.whileDown(t, res)
	case bad:
		v.slow = v.slow.bad(t, failed, res.Done)
	case res.Late:
		v.slow = v.slow.bad(t, late, res.Done)
	default:
		v.slow = v.slow.good(t, res.Done)
	}
	return v
}

// saw notes a sign of life.
func (v Verdict) saw(at time.Time) Verdict {
	v.LastLife = later(v.LastLife, at)
	v.row.silent, v.row.refused = time.Time{}, 0
	return v
}

// pass counts a passed probe.
func (v Verdict) pass(res Result) Verdict {
	v = v.made()
	v.row.passed = later(v.row.passed, res.Sent)
	if res.Sent.Before(v.row.failed) {
		v.Fails = min(v.Fails, 1)
		return v
	}
	v.Fails, v.row.life = 0, ""
	v.Passes++
	return v
}

// fail counts a failed probe.
func (v Verdict) fail(res Result) Verdict {
	v = v.made()
	v.Passes = 0
	v.row.failed = later(v.row.failed, res.Sent)
	if v.outdated(res.Sent) {
		return v
	}
	v.Fails++
	v.row.outcome = res.Outcome
	v.row.refused++
	if res.Cause != Refused {
		v.row.refused = 0
	}
	since := later(v.LastLife, res.Sent)
	if !res.Alive && (v.row.silent.IsZero() || since.Before(v.row.silent)) {
		v.row.silent = since
	}
	return v
}

// skip counts a probe that could not be made. It neither falls nor rises, and
// leaves a row of failures as it is.
func (v Verdict) skip(r Rules, res Result) Verdict {
	v.Passes = 0
	v.row.unmade++
	v.row.outcome = res.Outcome
	if v.row.unmade >= atLeastOne(r.Fall) && v.row.blind.IsZero() {
		v.row.blind = res.Done
	}
	return v
}

// made notes that a probe could be made.
func (v Verdict) made() Verdict {
	v.row.unmade, v.row.blind = 0, time.Time{}
	return v
}

// outdated tells whether a failure of a probe that left at sent would count
// for nothing, because one that left later has passed.
func (v Verdict) outdated(sent time.Time) bool { return sent.Before(v.row.passed) }

// judgeUnmade returns the verdict while probes cannot be made.
func (v Verdict) judgeUnmade(r Rules, now time.Time) Verdict {
	if now.Sub(v.row.blind) >= r.UnknownAfter {
		return v.fallen(Sick, fmt.Sprintf("no probe could be made for %v: %s", r.UnknownAfter, v.row.outcome))
	}
	v.Level = Unknown
	v.Reason = fmt.Sprintf("%d probes in a row could not be made: %s", v.row.unmade, v.row.outcome)
	return v
}

// judgeFailing returns the verdict once Fall failures stand in a row.
func (v Verdict) judgeFailing(r Rules, now time.Time) Verdict {
	mute := !v.row.silent.IsZero()
	switch {
	case v.row.refused >= atLeastOne(r.Fall):
		return v.fallen(Dead, fmt.Sprintf("%d in a row: %s", v.row.refused, v.row.outcome))
	case mute && now.Sub(v.row.silent) >= r.SilentAfter:
		return v.fallen(Dead, fmt.Sprintf("no sign of life for %v: %s", r.SilentAfter, v.row.outcome))
	case mute && v.Level == Dead:
		// Only a sign of life makes a dead one better.
		return v
	}
	return v.fallen(Sick, fmt.Sprintf("%d failures in a row: %s", v.Fails, v.row.outcome)+beside(v.row.life))
}

// beside says what showed life beside the results, as an addition to a reason.
func beside(life string) string {
	if life == "" {
		return ""
	}
	return "; " + life
}

// fallen returns the verdict at a level that is no longer fit.
func (v Verdict) fallen(to Level, reason string) Verdict {
	v.Level, v.Reason, v.Ready = to, reason, false
	return v
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// atLeastOne returns n, or 1 if n is less.
func atLeastOne(n int) int { return max(n, 1) }
