package quest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSearchFinds looks for limits anywhere, with one stall in three tries.
func TestSearchFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Float64Range(1, 100).Draw(t, "start")
		highest := rapid.Float64Range(start, 50_000).Draw(t, "highest")
		limit := rapid.Float64Range(start, 60_000).Draw(t, "limit")
		precision := rapid.Float64Range(0.01, 0.5).Draw(t, "precision")
		tries, stalled := 0, false
		got, err := search(t.Context(), start, highest, precision, func(_ context.Context, rate float64) (verdict, error) {
			if tries++; rate > highest || tries > 1000 {
				t.Fatalf("try %d is of %v, the highest is %v", tries, rate, highest)
			}
			if stalled = !stalled && tries%3 == 0; stalled {
				return verdict{false, "stalled"}, nil
			}
			return verdict{rate <= limit, "above"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if limit >= highest {
			if got != (bounds{Held: highest}) {
				t.Fatalf("found %+v, want all held up to %v", got, highest)
			}
			return
		}
		if got.Held > limit || got.Fails <= limit || got.Fails > got.Held*(1+precision) {
			t.Fatalf("found %+v, the limit is %v", got, limit)
		}
	})
}

func TestSearchTries(t *testing.T) {
	tests := []struct {
		name  string
		limit float64
		want  bounds
		rates []string
	}{
		{"between", 250, bounds{250, 262.5, "too much"},
			[]string{"100", "200", "400", "400", "300", "300", "250", "275", "275", "262.5", "262.5"}},
		{"all", 1000, bounds{Held: 450}, []string{"100", "200", "400", "450"}},
		{"none", 50, bounds{Fails: 100, Why: "too much"}, []string{"100", "100"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var rates []string
			got, err := search(t.Context(), 100, 450, 0.05, func(_ context.Context, rate float64) (verdict, error) {
				rates = append(rates, fmt.Sprint(rate))
				return verdict{rate <= tt.limit, "too much"}, nil
			})
			if err != nil || got != tt.want {
				t.Errorf("found %+v, %v; want %+v", got, err, tt.want)
			}
			if d := cmp.Diff(tt.rates, rates); d != "" {
				t.Errorf("unexpected rates (-want +got):\n%s", d)
			}
		})
	}
	broken := errors.New("broken")
	_, err := search(t.Context(), 100, 450, 0.05, func(context.Context, float64) (verdict, error) {
		return verdict{}, broken
	})
	if !errors.Is(err, broken) || err.Error() != "failed to try 100 questions a second: broken" {
		t.Errorf("error %v", err)
	}
}
