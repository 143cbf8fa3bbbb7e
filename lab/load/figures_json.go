package load

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// infinite spells Infinite in JSON, where a reader that knows doubles only would
// otherwise see a number that is not even it.
const infinite = "infinite"

// finite is a duration that may be Infinite: nanoseconds in JSON, or the word.
type finite time.Duration

// MarshalJSON writes the number or the word.
func (d finite) MarshalJSON() ([]byte, error) {
	if time.Duration(d) == Infinite {
		return json.Marshal(infinite)
	}
	return json.Marshal(int64(d))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *finite) UnmarshalJSON(b []byte) error {
	if string(b) == strconv.Quote(infinite) {
		*d = finite(Infinite)
		return nil
	}
	var n int64
	if err := json.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("failed to read duration %s: want nanoseconds or %q: %w", b, infinite, err)
	}
	*d = finite(n)
	return nil
}

// plain is Figures without its methods.
type plain Figures

// spelled is Figures as JSON has them: the quantiles hide those of plain.
type spelled struct {
	*plain
	P50 finite `json:"p50_ns"`
	P95 finite `json:"p95_ns"`
	P99 finite `json:"p99_ns"`
	Max finite `json:"max_ns"`
}

// MarshalJSON writes the figures; see Figures.
func (f Figures) MarshalJSON() ([]byte, error) {
	return json.Marshal(spelled{(*plain)(&f), finite(f.P50), finite(f.P95), finite(f.P99), finite(f.Max)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Figures) UnmarshalJSON(b []byte) error {
	s := spelled{plain: (*plain)(f)}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	f.P50, f.P95, f.P99, f.Max = time.Duration(s.P50), time.Duration(s.P95), time.Duration(s.P99), time.Duration(s.Max)
	return nil
}
