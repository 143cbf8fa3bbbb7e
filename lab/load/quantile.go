package load

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Infinite is how long a question that was lost took.
const Infinite = time.Duration(math.MaxInt64)

// quantile is the smallest value that at least the part q of the sorted values
// does not exceed; zero of none.
func quantile[T cmp.Ordered](sorted []T, q float64) T {
	var zero T
	if len(sorted) == 0 {
		return zero
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Spread is how a figure spreads over the clients.
type Spread[T cmp.Ordered] struct {
	Min    T `json:"min"`
	Median T `json:"median"`
	P90    T `json:"p90"`
	Max    T `json:"max"`
}

// spread computes the spread of one value a client.
func spread[T cmp.Ordered](values []T) Spread[T] {
	sorted := slices.Sorted(slices.Values(values))
	return Spread[T]{quantile(sorted, 0), quantile(sorted, 0.5), quantile(sorted, 0.9), quantile(sorted, 1)}
}
