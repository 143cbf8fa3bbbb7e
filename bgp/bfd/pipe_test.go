package bfd

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A weather is what a pipe does to packets: it loses and duplicates them, and
// the difference of their delays puts them out of order.
type weather struct {
	loss, copies float64 // probabilities
	delay, more  time.Duration
}

// path returns a path through the weather that draws from r.
func (w weather) path(r *rand.Rand) func() []time.Duration {
	return func() []time.Duration {
		if r.Float64() < w.loss {
			return nil
		}
		n := 1
		if r.Float64() < w.copies {
			n = 2
		}
		var all []time.Duration
		for range n {
			all = append(all, w.delay+time.Duration(r.Float64()*float64(w.more)))
		}
		return all
	}
}

// drawConfig draws one end's settings.
func drawConfig(t *rapid.T, name string) Config {
	interval := rapid.SampledFrom([]time.Duration{10 * ms, 50 * ms, 100 * ms, 300 * ms, time.Second, 2 * time.Second})
	return Config{
		DesiredMinTx:  interval.Draw(t, name+" tx"),
		RequiredMinRx: interval.Draw(t, name+" rx"),
		Multiplier:    rapid.Uint8Range(2, 5).Draw(t, name+" multiplier"),
	}
}

// TestPipe joins two sessions by a pipe in bad weather, in which both may also
// be taken down and changed. Once the weather is fine they are always up soon,
// with the intervals that their last settings give; and after a cut neither
// stays up for longer than its detection time.
func TestPipe(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bad := weather{
			loss:   rapid.Float64Range(0, 0.9).Draw(r, "loss"),
			copies: rapid.Float64Range(0, 0.5).Draw(r, "copies"),
			delay:  time.Duration(rapid.IntRange(0, 50).Draw(r, "delay")) * ms,
			more:   time.Duration(rapid.IntRange(0, 500).Draw(r, "more")) * ms,
		}
		a, b := drawConfig(r, "a"), drawConfig(r, "b")
		if rapid.Bool().Draw(r, "auth") {
			a.Auth = testAuth(rapid.SampledFrom(authTypes).Draw(r, "type"))
			b.Auth = a.Auth
		}
		last := drawConfig(r, "last")
		flips := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 8).Draw(r, "flips")
		oneWay := rapid.Bool().Draw(r, "one way")
		seed := rapid.Uint64().Draw(r, "seed")
		synctest.Test(t, func(t *testing.T) {
			pipe(t, pipeCase{bad, a, b, last, flips, oneWay, rand.New(rand.NewPCG(seed, 1))})
		})
		if t.Failed() {
			r.Fatal("see above")
		}
	})
}

// A pipeCase is one run of TestPipe.
type pipeCase struct {
	bad        weather
	a, b, last Config
	flips      []int
	oneWay     bool
	r          *rand.Rand
}

// pipe runs one case in a bubble.
func pipe(t *testing.T, c pipeCase) {
	a, b := newPair(t, c.a, c.b, 0)
	defer a.stop()
	defer b.stop()
	for i, e := range []*end{a, b} {
		e.route(c.bad.path(rand.New(rand.NewPCG(c.r.Uint64(), uint64(i)))))
	}
	for _, f := range c.flips {
		time.Sleep(time.Duration(c.r.IntN(3000)) * ms)
		switch f {
		case 0:
			a.SetAdminDown(true)
		case 1:
			a.SetAdminDown(false)
		case 2:
			a.update(t, c.last)
		case 3:
			b.update(t, c.last)
		}
	}
	a.SetAdminDown(false)
	a.update(t, c.last)
	b.update(t, c.last)

	// Fine weather. The longest wait is that for the sequence numbers of bad
	// times to be forgotten: twice a detection time, and the handshake.
	a.join(b, ms)
	time.Sleep(2*5*2*time.Second + 3*2*time.Second)
	a.want(Up)
	b.want(Up)
	interval := max(c.last.DesiredMinTx, c.last.RequiredMinRx)
	for _, e := range []*end{a, b} {
		st := e.Status()
		if st.TxInterval != interval || st.RxInterval != interval || st.Polling {
			t.Errorf("%v: tx %v, rx %v, polling %t, want %v",
				e.self, st.TxInterval, st.RxInterval, st.Polling, interval)
		}
		if want := interval * time.Duration(c.last.Multiplier); st.Detection != want {
			t.Errorf("%v: detection time %v, want %v", e.self, st.Detection, want)
		}
	}

	// The cut. What was on its way may arrive for one more millisecond.
	a.cut()
	if !c.oneWay {
		b.cut()
	}
	time.Sleep(ms + interval*time.Duration(c.last.Multiplier))
	b.wantNotUp()
	if c.oneWay {
		time.Sleep(ms) // b says so, upon which a may be Init again
	}
	a.wantNotUp()
}

// wantNotUp fails the test if e is up.
func (e *end) wantNotUp() {
	e.t.Helper()
	settle()
	if e.Status().State == Up {
		e.t.Fatalf("at %v: %v is still up", time.Since(e.begin), e.self)
	}
}

// update changes the intervals of an end or fails the test.
func (e *end) update(t *testing.T, c Config) {
	t.Helper()
	if err := e.Update(c.intervals()); err != nil {
		t.Fatal(err)
	}
}
