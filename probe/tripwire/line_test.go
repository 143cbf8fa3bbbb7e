package tripwire

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestLine proves when a line trips and when it connects again: a connection
// that ends trips, one that does not come about does not, and the wait doubles
// up to a bound unless connections last.
func TestLine(t *testing.T) {
	const s = time.Second
	refused := errors.New("refused")
	tests := []struct {
		name  string
		lasts []time.Duration // of each connection; -1: there is none. The last goes on
		trips int
		dials []time.Duration
	}{
		{"it stays", []time.Duration{time.Hour}, 0, []time.Duration{0}},
		{"it ends once", []time.Duration{20 * s, time.Hour}, 1, []time.Duration{0, 21 * s}},
		{"it is closed when idle", []time.Duration{30 * s, 30 * s, 30 * s, time.Hour}, 3, []time.Duration{0, 31 * s, 62 * s, 93 * s}},
		{"there is none", []time.Duration{-1, -1, -1, -1, -1, -1, time.Hour}, 0, []time.Duration{0, s, 3 * s, 7 * s, 15 * s, 25 * s, 35 * s}},
		{"it is closed at once", []time.Duration{0, 0, 0, time.Hour}, 3, []time.Duration{0, s, 3 * s, 7 * s}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, trips := time.Now(), 0
				var dials []time.Duration
				l := &Line{dial: func(ctx context.Context) (net.Conn, error) {
					i := min(len(dials), len(tt.lasts)-1)
					dials = append(dials, time.Since(begin))
					if tt.lasts[i] < 0 {
						return nil, refused
					}
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						select {
						case <-time.After(tt.lasts[i]):
						case <-ctx.Done():
						}
					}()
					return ours, nil
				}}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				if err := l.Run(ctx, func() { trips++ }); err != nil {
					t.Error(err)
				}
				if trips != tt.trips || !slices.Equal(dials, tt.dials) {
					t.Errorf("%d trips, connected at %v, want %d and %v", trips, dials, tt.trips, tt.dials)
				}
			})
		})
	}
}

// TestLineEnds proves that the end of its context ends a line without a trip.
func TestLineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		l := &Line{dial: func(context.Context) (net.Conn, error) { return ours, nil }}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx, func() { t.Error("it tripped") }) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
