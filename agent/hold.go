package agent

import "time"

// holdMemory is how long a leaving counts towards the next hold.
const holdMemory = 10 * time.Minute

// Hold is the time for which a node that left is second choice only, healthy
// or not: a return moves flows, so one that may not last is not worth it. It
// never keeps a node out of the routing.
type Hold struct {
	Until time.Time     // the hold ends; zero: there is none
	Last  time.Time     // the last leaving
	Span  time.Duration // how long the last hold was made
	// Manual holds until an operator resumes the service.
	Manual bool
}

// left begins a hold at a leaving: min at first, doubled by every further one
// within holdMemory, up to max.
func (h Hold) left(r Rules, now time.Time) Hold {
	span := r.HoldMin
	if h.Span > 0 && now.Sub(h.Last) < holdMemory {
		span = min(2*h.Span, r.HoldMax)
	}
	return Hold{Until: now.Add(span), Last: now, Span: span,
		Manual: h.Manual || r.Manual}
}

// again lets the span that is already running count from a later moment: the
// second step of a leaving that began with a depreference. Without a leaving to
// remember it is the first.
func (h Hold) again(r Rules, now time.Time) Hold {
	if h.Span == 0 || now.Sub(h.Last) >= holdMemory {
		return h.left(r, now)
	}
	h.Until, h.Last = now.Add(h.Span), now
	return h
}

// over tells whether the service may be announced fully.
func (h Hold) over(now time.Time) bool {
	return !h.Manual && !now.Before(h.Until)
}

// under is the hold under changed rules: one that waits for an operator is an
// ordinary one as soon as none of that kind is configured.
func (h Hold) under(r Rules) Hold {
	h.Manual = h.Manual && r.Manual
	return h
}

// resumed ends a hold by an operator's word.
func (h Hold) resumed() Hold {
	h.Until, h.Manual = time.Time{}, false
	return h
}
