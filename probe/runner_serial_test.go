package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRunnerSerial proves that probes of a serial check never overlap: one that
// is due leaves when the one before has ended, be it by its deadline, under
// suspicion, or after a trip.
func TestRunnerSerial(t *testing.T) {
	seconds := func(list ...float64) (times []time.Duration) {
		for _, s := range list {
			times = append(times, time.Duration(s*float64(time.Second)))
		}
		return times
	}
	tests := []struct {
		name   string
		serial bool
		serve  func(context.Context) Result
		want   []time.Duration
	}{
		{"quick ones keep the interval", true, takes(100 * time.Millisecond), seconds(0, 1, 2, 3, 4, 5)},
		{"slow ones follow each other", true, takes(1500 * time.Millisecond), seconds(0, 1.5, 3, 4.5)},
		{"hanging ones follow each other", true, hangs, seconds(0, 2, 4)},
		{"others overlap", false, hangs, seconds(0, 1, 2, 3, 4, 5)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := defaults()
				c.Serial, c.Timeout, c.Over = tt.serial, 2*time.Second, 2*time.Second
				f := &fake{serve: tt.serve}
				begun := time.Now()
				h := start(t, c, f, nil)
				time.Sleep(5500 * time.Millisecond)
				h.end(t)
				if diff := cmp.Diff(tt.want, f.times(begun)); diff != "" {
					t.Errorf("unexpected departures (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestRunnerSerialSuspicion proves that neither suspicion nor a trip makes a
// serial check's probes overlap, and that one which was held up leaves at once.
func TestRunnerSerialSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := defaults()
		c.Serial, c.Rules.Rise = true, 1
		f := &fake{serve: passes}
		begun := time.Now()
		h := start(t, c, f, nil)
		time.Sleep(500 * time.Millisecond)
		f.become(hangs)
		time.Sleep(600 * time.Millisecond)
		h.Suspect() // The probe of second 1 is out until 1.5.
		time.Sleep(time.Second)
		h.end(t)
		want := []time.Duration{0, time.Second, 1500 * time.Millisecond, 2000 * time.Millisecond}
		if diff := cmp.Diff(want, f.times(begun)); diff != "" {
			t.Errorf("unexpected departures (-want +got):\n%s", diff)
		}
	})
}

// TestRunnerSerialBroken proves that a prober which does not end holds a serial
// check up only until it is given up.
func TestRunnerSerialBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := defaults()
		c.Serial = true
		never := make(chan struct{})
		f := &fake{serve: func(context.Context) Result {
			<-never
			return Result{}
		}}
		begun := time.Now()
		h := start(t, c, f, nil)
		time.Sleep(4 * time.Second)
		h.end(t)
		close(never)
		want := []time.Duration{0, 1500 * time.Millisecond, 3000 * time.Millisecond}
		if diff := cmp.Diff(want, f.times(begun)); diff != "" {
			t.Errorf("unexpected departures (-want +got):\n%s", diff)
		}
	})
}
