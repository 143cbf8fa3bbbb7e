package cable

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBuckets shows that every value is in one bucket, whose top is not more
// than 1/16 above it.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64Range(0, 1<<62).Draw(t, "v")
		b := bucket(v)
		if top(b) < v || top(b)-v > v/16 {
			t.Fatalf("%d is in bucket %d, up to %d", v, b, top(b))
		}
		if b > 0 && top(b-1) >= v {
			t.Fatalf("%d is in bucket %d, yet the one before goes up to %d", v, b, top(b-1))
		}
	})
}

func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(-5, 1<<40), 1, 300).Draw(t, "values")
		var h histogram
		for _, v := range all {
			h.add(time.Duration(v))
		}
		slices.Sort(all)
		got := h.summary()
		for _, q := range []struct {
			share float64
			got   time.Duration
		}{{0.5, got.Median}, {0.99, got.P99}} {
			want := max(all[int(q.share*float64(len(all)))], 0)
			if int64(q.got) < want || int64(q.got) > want+want/16 {
				t.Errorf("quantile %v is %d, want %d", q.share, q.got, want)
			}
		}
		if worst := max(all[len(all)-1], 0); int64(got.Worst) != worst || got.Frames != uint64(len(all)) {
			t.Errorf("worst %d of %d, want %d of %d", got.Worst, got.Frames, worst, len(all))
		}
	})
	if got := (&histogram{}).summary(); got != (Lateness{}) {
		t.Errorf("no frames were late as %+v", got)
	}
}
