package cable

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// epoch is when the tests of pure code begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newLine is a line whose chances are always the same.
func newLine(s Shape) *line {
	return &line{shape: s, random: rand.New(rand.NewPCG(1, 2))}
}

// plain is a frame that is no giant, of that many bytes.
func plain(n int) []byte { return make([]byte, n) }

// sum is what In should be.
func sum(f Flow) uint64 {
	return f.Out + f.Lost + f.Cut + f.Overflowed + f.Failed + f.Waiting
}

// TestLineAgainstModel walks a line through random frames, pauses and shapes,
// beside a model that is a plain list: every frame leaves once, unchanged, in
// order and never early, and everything is counted.
func TestLineAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLine(Shape{})
		clock := epoch
		var model []frame // what should wait
		var out uint64
		var last time.Time
		expect := func(f frame, data []byte) {
			out++
			if f.due.After(clock) || f.due.Before(last) {
				t.Fatalf("left at %v, due %v, the one before at %v", clock, f.due, last)
			}
			if last = f.due; !cmp.Equal(f.data, data) {
				t.Fatalf("left as %v, came as %v", data, f.data)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"pass time": func(t *rapid.T) {
				clock = clock.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "ms")) * time.Millisecond)
			},
			"shape": func(t *rapid.T) {
				s := Shape{
					Delay: time.Duration(rapid.IntRange(0, 50).Draw(t, "delay")) * time.Millisecond,
					Cut:   rapid.IntRange(0, 9).Draw(t, "cut") == 0,
					Queue: rapid.IntRange(1, 400).Draw(t, "queue"),
				}
				s.Jitter = s.Delay / time.Duration(rapid.IntRange(1, 4).Draw(t, "jitter"))
				if l.set(s); s.Cut {
					model, last = nil, time.Time{}
				}
			},
			"enter": func(t *rapid.T) {
				data := rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "frame")
				before := l.count
				passed := false
				l.enter(clock, clock, data, func(got []byte, due time.Time) {
					passed = true
					if len(model) > 0 {
						t.Fatal("overtook what waits")
					}
					expect(frame{due, data}, got)
				})
				if dropped := l.count.Cut + l.count.Overflowed - before.Cut - before.Overflowed; dropped == 0 && !passed {
					model = append(model, frame{l.last, append([]byte(nil), data...)})
				}
				clear(data) // what waits must be a copy
			},
			"leave": func(t *rapid.T) {
				for {
					f, ok := l.leave(clock)
					if !ok {
						break
					}
					expect(model[0], f.data)
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				bytes := 0
				for _, f := range model {
					bytes += len(f.data)
				}
				f := l.count
				f.Out, f.Waiting = out, l.held()
				if int(f.Waiting) != len(model) || l.bytes != bytes || f.In != sum(f) {
					t.Fatalf("%d frames of %d bytes wait, want %d of %d; counted %+v",
						f.Waiting, l.bytes, len(model), bytes, f)
				}
				if due, ok := l.next(); ok != (len(model) > 0) || ok && !due.Equal(model[0].due) {
					t.Fatalf("next is due at %v, %v; %d wait", due, ok, len(model))
				}
			},
		})
	})
}

func TestLineDelayCountsFromArrival(t *testing.T) {
	l := newLine(Shape{Delay: 10 * time.Millisecond})
	never := func([]byte, time.Time) { t.Error("passed before its time") }
	l.enter(epoch, epoch.Add(4*time.Millisecond), plain(1), never)
	if due, _ := l.next(); !due.Equal(epoch.Add(10 * time.Millisecond)) {
		t.Errorf("due after %v", due.Sub(epoch))
	}
	// One that was read too late need not wait.
	l, passed := newLine(Shape{Delay: 10 * time.Millisecond}), time.Time{}
	l.enter(epoch, epoch.Add(15*time.Millisecond), plain(1), func(_ []byte, due time.Time) { passed = due })
	if !passed.Equal(epoch.Add(10 * time.Millisecond)) {
		t.Errorf("passed as due after %v", passed.Sub(epoch))
	}
}

func TestLineJitter(t *testing.T) {
	const n = 2000
	l := newLine(Shape{Delay: 10 * time.Millisecond, Jitter: 5 * time.Millisecond})
	var all []float64
	for i := range n {
		// So far apart that none has to wait for the one before.
		at := epoch.Add(time.Duration(i) * time.Second)
		l.enter(at, at, plain(1), nil)
		f, ok := l.leave(at.Add(15 * time.Millisecond))
		if !ok || f.due.Before(at.Add(5*time.Millisecond)) {
			t.Fatalf("due after %v", f.due.Sub(at))
		}
		all = append(all, f.due.Sub(at).Seconds()*1000)
	}
	mean, spread := moments(all)
	// A uniform spread of 5 to 15 ms: mean 10, deviation 10/sqrt(12) = 2.89.
	if math.Abs(mean-10) > 0.33 || math.Abs(spread-2.89) > 0.2 {
		t.Errorf("mean %.2f ms, deviation %.2f ms", mean, spread)
	}
}

// moments are the mean and the standard deviation.
func moments(all []float64) (mean, deviation float64) {
	for _, x := range all {
		mean += x / float64(len(all))
	}
	for _, x := range all {
		deviation += (x - mean) * (x - mean) / float64(len(all))
	}
	return mean, math.Sqrt(deviation)
}

func TestLineLoss(t *testing.T) {
	const n = 100_000
	for _, p := range []float64{0, 0.001, 0.3, 1} {
		l := newLine(Shape{Loss: p})
		passed := 0
		for range n {
			l.enter(epoch, epoch, plain(1), func([]byte, time.Time) { passed++ })
		}
		want, sd := p*n, math.Sqrt(n*p*(1-p))
		if math.Abs(float64(l.count.Lost)-want) > 5*sd || passed+int(l.count.Lost) != n {
			t.Errorf("loss %v: %d lost and %d passed of %d", p, l.count.Lost, passed, n)
		}
	}
}

// TestLineDoesNotGrow lets a line that is never empty carry many frames.
func TestLineDoesNotGrow(t *testing.T) {
	l := newLine(Shape{Delay: 100 * time.Millisecond})
	for i := range 100_000 {
		at := epoch.Add(time.Duration(i) * time.Millisecond)
		l.enter(at, at, plain(100), nil)
		l.leave(at)
	}
	if n := len(l.waiting) - l.head; n != 100 || cap(l.waiting) > 1000 {
		t.Errorf("%d frames wait in a slice of %d", n, cap(l.waiting))
	}
}

func TestShapeErrors(t *testing.T) {
	tests := []struct {
		shape Shape
		want  string
	}{
		{Shape{}, ""},
		{Shape{Delay: 1, Jitter: 1, Loss: 1, Cut: true, Queue: 1}, ""},
		{Shape{Delay: -1}, "delay: -1ns: must not be negative"},
		{Shape{Delay: 1, Jitter: 2}, "jitter: 2ns: must be between 0 and the delay, 1ns"},
		{Shape{Loss: 30}, "loss: 30: must be between 0 and 1"},
		{Shape{Loss: -0.1}, "loss: -0.1: must be between 0 and 1"},
		{Shape{Loss: math.NaN()}, "loss: NaN: must be between 0 and 1"},
		{Shape{Queue: -1}, "queue: -1: must not be negative"},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.shape.validate(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v: unexpected error (-want +got):\n%s", tt.shape, diff)
		}
	}
}
