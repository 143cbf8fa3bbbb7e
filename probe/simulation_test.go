package probe

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// simulateFull makes the tables of docs/gray-failure.md instead of a sketch.
var simulateFull = flag.Bool("simulate", false, "simulate years instead of days (some minutes)")

// simulated is the check of the tables: the defaults, but a timeout that is too
// long for the test of failures in a row to have a say.
func simulated() Check {
	c := defaults()
	c.Over, c.Timeout = 50*time.Millisecond, 2*time.Second
	return c
}

// stream is one kind of trouble.
type stream struct {
	name string
	make func(r *rand.Rand, share float64) server
}

// streams are the kinds of trouble of the tables.
var streams = []stream{
	{"each by itself", func(r *rand.Rand, share float64) server {
		return independently(r, share, 200*time.Millisecond)
	}},
	{"stalls of 300 ms", func(r *rand.Rand, share float64) server { return stalling(r, share, 300*time.Millisecond) }},
	{"stalls of 900 ms", func(r *rand.Rand, share float64) server { return stalling(r, share, 900*time.Millisecond) }},
}

// source returns the generator of a trial.
func source(trial int) *rand.Rand { return rand.New(rand.NewPCG(uint64(trial), 1)) }

// windows are those of p95 that the sequential test is compared with.
var windows = []int{20, 60, 100}

// p95 tells over a window of n samples whether more than 5 % of them are bad.
type p95 struct {
	ring []bool
	next int
	bad  int
}

// add takes a sample in and tells whether the window trips.
func (w *p95) add(bad bool) bool {
	if w.ring[w.next] {
		w.bad--
	}
	if bad {
		w.bad++
	}
	w.ring[w.next] = bad
	w.next = (w.next + 1) % len(w.ring)
	return w.bad > len(w.ring)/20
}

// leavings returns how often the sequential test leaves within the time, and
// how many probes that took. It begins anew after each.
func leavings(c Check, k stream, share float64, span time.Duration) (n, probes int) {
	s := simulate(c, k.make(source(0), share))
	for end := epoch.Add(span); s.now.Before(end); {
		s.run(end.Sub(s.now))
		if s.verdict.Level != OK {
			n++
			s.verdict, s.shots = Verdict{Level: OK, Ready: true}, nil
		}
	}
	return n, s.sent
}

// trips returns how often p95 over a window of n samples begins to trip within
// the time, at a probe a second.
func trips(k stream, share float64, n int, span time.Duration) int {
	answer, w := k.make(source(0), share), p95{ring: make([]bool, n)}
	count, was := 0, false
	for at := time.Duration(0); at < span; at += time.Second {
		took, _ := answer(at)
		now := w.add(took > simulated().Over)
		if now && !was {
			count++
		}
		was = now
	}
	return count
}

// patienceMost returns how long a trial is waited for.
func patienceMost() time.Duration {
	if *simulateFull {
		return 2 * time.Hour
	}
	return 20 * time.Minute
}

// delay returns how long the sequential test takes from a fault at a random
// phase.
func delay(c Check, k stream, share float64, trial int) time.Duration {
	r := source(trial)
	s := simulate(c, k.make(r, share))
	phase := time.Duration(r.Float64() * float64(time.Second))
	s.plan.next = epoch.Add(phase)
	s.run(patienceMost())
	return s.now.Sub(epoch)
}

// tripDelay returns how long p95 over a window takes, at a probe a second.
func tripDelay(k stream, share float64, n, trial int) time.Duration {
	r := source(trial)
	answer, w := k.make(r, share), p95{ring: make([]bool, n)}
	at := time.Duration(r.Float64() * float64(time.Second))
	for ; at < patienceMost(); at += time.Second {
		if took, _ := answer(at); w.add(took > simulated().Over) {
			return at + simulated().Over
		}
	}
	return at
}

// back returns how long a server of which a share was bad takes to be ok again
// once another is.
func back(was, share float64, trial int) time.Duration {
	r := source(trial)
	s := simulate(simulated(), streams[0].make(r, was))
	s.run(patienceMost())
	s.check.Over /= 2
	s.server, s.shots = streams[0].make(r, share), nil
	repaired := s.now
	s.run(patienceMost())
	return s.now.Sub(repaired)
}

// flaps returns how often within the time a server whose share of bad answers
// stays the same is taken for well again.
func flaps(share float64, span time.Duration) (n int) {
	c := simulated()
	s := simulate(c, streams[0].make(source(0), share))
	for end := epoch.Add(span); s.now.Before(end); {
		s.run(end.Sub(s.now))
		s.check.Over = simulated().Over
		if s.verdict.Level != OK {
			s.check.Over /= 2
		} else if s.now.Before(end) {
			n++
		}
	}
	return n
}

// spread returns the median and the 90th percentile for people.
func spread(times []time.Duration) string {
	slices.Sort(times)
	text := func(p int) string {
		d := percentile(times, p)
		switch {
		case d >= patienceMost():
			return "-"
		case d >= 10*time.Minute:
			return fmt.Sprintf("%.0f min", d.Minutes())
		}
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return text(50) + " / " + text(90)
}

// each runs f for so many trials.
func each(trials int, f func(trial int) time.Duration) []time.Duration {
	var times []time.Duration
	for i := range trials {
		times = append(times, f(i))
	}
	return times
}

// perMonth returns a number of events as those of 30 days.
func perMonth(n int, span time.Duration) string {
	if n == 0 {
		return fmt.Sprintf("< %.2g", 720/span.Hours())
	}
	return fmt.Sprintf("%.3g", float64(n)*720/span.Hours())
}

// cellsOf returns a row of a table.
func cellsOf(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// TestSimulationLeavings prints how often a server that is bad for a share of
// the samples is left, and proves that 5 % never are.
func TestSimulationLeavings(t *testing.T) {
	span := 24 * time.Hour
	if *simulateFull {
		span = 365 * 24 * time.Hour
	}
	t.Logf("leavings in 30 days, from %.0f days", span.Hours()/24)
	for _, k := range streams {
		t.Log(cellsOf(k.name, "slow test", "p95/20", "p95/60", "p95/100", "probes/s"))
		for _, share := range []float64{.01, .02, .05, .10} {
			n, probes := leavings(simulated(), k, share, span)
			cells := []string{fmt.Sprintf("%.0f %%", 100*share), perMonth(n, span)}
			for _, w := range windows {
				cells = append(cells, perMonth(trips(k, share, w, span), span))
			}
			t.Log(cellsOf(append(cells, fmt.Sprintf("%.2f", float64(probes)/span.Seconds()))...))
			if most := span.Hours() / 720; share <= .05 && float64(n) >= max(most, 1) {
				t.Errorf("%s, %.0f %%: %d leavings in %v", k.name, 100*share, n, span)
			}
		}
	}
}

// TestSimulationDelay prints how long a gray server is not left, and proves the
// numbers that are asked for.
func TestSimulationDelay(t *testing.T) {
	trials := 25
	if *simulateFull {
		trials = 2000
	}
	t.Logf("from the fault to the verdict, median / 90th percentile of %d", trials)
	for i, k := range streams {
		if *simulateFull && i > 0 {
			trials = 200 // There is less to prove and more to wait for.
		}
		t.Log(cellsOf(k.name, "slow test", "p95/20", "p95/60", "p95/100"))
		for _, share := range []float64{.10, .15, .20, .30, .50, .70, .90, 1} {
			if k.name != streams[0].name && share > .3 {
				continue
			}
			times := each(trials, func(i int) time.Duration { return delay(simulated(), k, share, i) })
			cells := []string{fmt.Sprintf("%.0f %%", 100*share), spread(times)}
			for _, w := range windows {
				cells = append(cells, spread(each(trials, func(i int) time.Duration { return tripDelay(k, share, w, i) })))
			}
			t.Log(cellsOf(cells...))
			if k.name != streams[0].name {
				continue
			}
			if got := percentile(times, 50); share == .30 && got >= 15*time.Second {
				t.Errorf("30 %% bad are left after a median of %v", got)
			}
			if got := percentile(times, 100); share == 1 && got >= 2500*time.Millisecond {
				t.Errorf("100 %% bad are left after %v at worst", got)
			}
		}
	}
}

// TestSimulationThreshold prints what the threshold trades.
func TestSimulationThreshold(t *testing.T) {
	span, trials := 6*time.Hour, 25
	if *simulateFull {
		span, trials = 365*24*time.Hour, 2000
	}
	t.Log(cellsOf("threshold", "leavings in 30 days at 5 %", "at 10 %", "delay at 30 %", "at 100 %"))
	for _, threshold := range []float64{6, 8, 10, 12} {
		c := simulated()
		c.Rules.Slow.Threshold = threshold
		cells := []string{fmt.Sprintf("%.0f", threshold)}
		for _, share := range []float64{.05, .10} {
			n, _ := leavings(c, streams[0], share, span)
			cells = append(cells, perMonth(n, span))
		}
		var medians []time.Duration
		for _, share := range []float64{.30, 1} {
			times := each(trials, func(i int) time.Duration { return delay(c, streams[0], share, i) })
			cells = append(cells, spread(times))
			medians = append(medians, percentile(times, 50))
		}
		t.Log(cellsOf(cells...))
		if threshold == DefaultThreshold && medians[0] >= 15*time.Second {
			t.Errorf("a median of %v at 30 %%", medians[0])
		}
	}
}

// TestSimulationReturn prints how long a server that was gray is waited for.
func TestSimulationReturn(t *testing.T) {
	trials := 25
	if *simulateFull {
		trials = 2000
	}
	t.Logf("from the repair to the return, median / 90th percentile of %d", trials)
	was := []float64{.30, .50, 1}
	t.Log(cellsOf("still bad", "was 30 %", "was 50 %", "was 100 %"))
	for _, share := range []float64{0, .01, .02, .05, .10, .15, .20, .30, .50} {
		cells := []string{fmt.Sprintf("%.0f %%", 100*share)}
		for _, w := range was {
			times := each(trials, func(i int) time.Duration { return back(w, share, i) })
			cells = append(cells, spread(times))
			if got := percentile(times, 100); share == 0 && got > time.Minute {
				t.Errorf("a server that was %.0f %% bad and is well returns after %v", 100*w, got)
			}
			if got := percentile(times, 90); share == 0 && w == 1 && got > 20*time.Second {
				t.Errorf("a server that was bad throughout and is well returns after %v", got)
			}
		}
		t.Log(cellsOf(cells...))
	}
}

// TestSimulationFlaps prints how often a server that stays bad is taken for well,
// and proves that this is rare where it is to be left for good.
func TestSimulationFlaps(t *testing.T) {
	span := 24 * time.Hour
	if *simulateFull {
		span = 60 * 24 * time.Hour
	}
	t.Logf("returns in a day, from %.0f days", span.Hours()/24)
	for _, share := range []float64{.15, .20, .30, .40, .50, .70, 1} {
		n := flaps(share, span)
		day := float64(n) * 24 / span.Hours()
		t.Log(cellsOf(fmt.Sprintf("%.0f %%", 100*share), fmt.Sprintf("%.2f", day)))
		if share >= .30 && day > 6 {
			t.Errorf("%.0f %% bad: %.2f returns in a day", 100*share, day)
		}
	}
}

// trueFor is for how long the simulation is held against a Runner.
const trueFor = 5*time.Minute + 333333*time.Microsecond

// TestSimulationIsTrue proves that a Runner does what the simulation says, to
// the nanosecond. (Where a probe is to leave at the very moment of the verdict,
// either may come first.)
func TestSimulationIsTrue(t *testing.T) {
	for _, k := range streams {
		for _, share := range []float64{.1, .3, .6, 1} {
			for trial := range 5 {
				s := simulate(simulated(), k.make(source(trial), share))
				s.plan = s.plan.sent(epoch)
				s.run(trueFor)
				want, sent := s.now.Sub(epoch), s.sent
				synctest.Test(t, func(t *testing.T) {
					if got, n := really(t, k.make(source(trial), share)); got != want || n < sent-1 || n > sent {
						t.Errorf("%s, %.0f %%, trial %d: left after %v and %d probes, the simulation says %v and %d",
							k.name, 100*share, trial, got, n, want, sent)
					}
				})
			}
		}
	}
}

// really returns when a Runner leaves the server, and after how many probes.
func really(t *testing.T, answer server) (time.Duration, int) {
	c := simulated()
	c.Rules.Rise = 1
	f := &fake{serve: passes}
	h := start(t, c, f, NewBudget())
	defer h.end(t)
	h.await(OK)
	begin := time.Now()
	var mu sync.Mutex
	f.become(func(ctx context.Context) Result {
		mu.Lock()
		took, _ := answer(time.Since(begin))
		mu.Unlock()
		return takes(took)(ctx)
	})
	for end := time.After(trueFor); ; {
		select {
		case r := <-h.reports:
			if r.Verdict.Level == OK {
				continue
			}
		case <-end:
		}
		return time.Since(begin), f.count() - 1
	}
}
