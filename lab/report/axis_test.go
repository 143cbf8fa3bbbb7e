package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/result"
)

// phases are calm, fault and after, of these lengths.
func phases(calm, fault, after time.Duration) []result.Phase {
	return []result.Phase{{Name: "calm", From: sampleStart, To: sampleStart.Add(calm)},
		{Name: "fault", From: sampleStart.Add(calm), To: sampleStart.Add(calm + fault)},
		{Name: "after", From: sampleStart.Add(calm + fault), To: sampleStart.Add(calm + fault + after)}}
}

func TestRoundUp(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0:                       10 * time.Millisecond,
		11 * time.Millisecond:   20 * time.Millisecond,
		200 * time.Millisecond:  200 * time.Millisecond,
		1100 * time.Millisecond: 2 * time.Second,
		61 * time.Second:        100 * time.Second,
	} {
		if got := roundUp(d); got != want {
			t.Errorf("%s: unexpected width %s, want %s", d, got, want)
		}
	}
}

// TestAxis: zero is an edge of a bin, the bins span all phases, and their
// number is bounded.
func TestAxis(t *testing.T) {
	tests := []struct {
		name               string
		calm, fault, after time.Duration
	}{
		{"even", 10 * time.Second, 20 * time.Second, 10 * time.Second},
		{"odd", 1234 * time.Millisecond, 777 * time.Millisecond, 3 * time.Second},
		{"an hour", time.Minute, time.Hour, time.Minute},
		{"a blink", 20 * time.Millisecond, 30 * time.Millisecond, 0},
		{"nothing", 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := result.Run{Started: sampleStart, Phases: phases(tt.calm, tt.fault, tt.after)}
			a := newAxis(r, nil)
			if !a.zero.Equal(sampleStart.Add(tt.calm)) || a.zero.Sub(a.from)%a.width != 0 {
				t.Errorf("unexpected zero %s of an axis from %s in steps of %s", a.zero, a.from, a.width)
			}
			end := sampleStart.Add(tt.calm + tt.fault + tt.after)
			missing := max(a.from.Sub(sampleStart), end.Sub(a.from.Add(a.span())))
			if few := a.bins < wholeBins; few && missing > 0 || missing >= a.width {
				t.Errorf("axis from %s for %s does not span the run until %s", a.from, a.span(), end)
			}
			if a.bins < 1 || a.bins > maxBins+2 {
				t.Errorf("unexpected number of bins: %d", a.bins)
			}
			if ticks := a.ticks(); len(ticks) > 2*maxTicks || tt.fault > 0 && len(ticks) < 2 {
				t.Errorf("unexpected ticks: %v", ticks)
			}
		})
	}
}

func TestAxisWithoutPhases(t *testing.T) {
	_, records := frozen().run()
	a := newAxis(result.Run{Started: sampleStart.Add(-time.Hour)}, records)
	if !a.zero.Equal(sampleStart) || a.span() < 39*time.Second || a.span() > 41*time.Second {
		t.Errorf("unexpected axis of records alone: from %s for %s", a.from, a.span())
	}
	a = newAxis(result.Run{Started: sampleStart, Took: 9 * time.Second}, nil)
	if a.span() != 9*time.Second {
		t.Errorf("unexpected axis of nothing: %s", a.span())
	}
}

func TestTicks(t *testing.T) {
	r := result.Run{Phases: phases(10*time.Second, 20*time.Second, 10*time.Second)}
	want := []tick{{"0%", "−10 s", false}, {"25%", "0", false}, {"50%", "+10 s", false}, {"75%", "+20 s", false}, {"100%", "+30 s", true}}
	if diff := cmp.Diff(want, newAxis(r, nil).ticks()); diff != "" {
		t.Errorf("unexpected ticks (-want +got):\n%s", diff)
	}
}

// TestAt holds what is outside within the picture.
func TestAt(t *testing.T) {
	a := newAxis(result.Run{Phases: phases(10*time.Second, 20*time.Second, 10*time.Second)}, nil)
	for d, want := range map[time.Duration]float64{-time.Hour: 0, 0: 0, 10 * time.Second: 25, 40 * time.Second: 100, time.Hour: 100} {
		if got := a.at(sampleStart.Add(d)); got != want {
			t.Errorf("%s: unexpected place %v, want %v", d, got, want)
		}
	}
}
