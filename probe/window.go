package probe

import "time"

// limit allows n events in any span of time.
type limit struct {
	n    int
	span time.Duration
}

// window says when the next event may happen under several limits. A span
// holds its start but not its end, so an event may follow the one that is n
// before it after exactly the span.
type window struct {
	limits []limit
	ring   []time.Time
	next   int
}

// newWindow returns an empty window under limits.
func newWindow(limits ...limit) window {
	most := 0
	for _, l := range limits {
		most = max(most, l.n)
	}
	return window{limits: limits, ring: make([]time.Time, most)}
}

// free returns the earliest time, now or later, at which an event may happen.
func (w *window) free(now time.Time) time.Time {
	at := now
	for _, l := range w.limits {
		before := w.ring[(w.next-l.n+len(w.ring))%len(w.ring)]
		if !before.IsZero() {
			at = later(at, before.Add(l.span))
		}
	}
	return at
}

// add notes an event at t, which is not before the one added last.
func (w *window) add(t time.Time) {
	w.ring[w.next] = t
	w.next = (w.next + 1) % len(w.ring)
}
