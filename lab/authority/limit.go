package authority

import "time"

// limiter counts what has passed in the last second. The zero value has let
// nothing pass.
type limiter []time.Time

// allow lets one more pass at now, which must not go back, unless rate of them
// have passed in the second before.
func (l *limiter) allow(rate int, now time.Time) bool {
	old := *l
	for len(old) > 0 && now.Sub(old[0]) >= time.Second {
		old = old[1:]
	}
	ok := len(old) < rate
	if ok {
		old = append(old, now)
	}
	*l = old
	return ok
}
