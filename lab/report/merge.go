package report

import (
	"slices"
	"time"
)

// merge draws a lane that changes all the time in columns of equal width, each
// in the worst state that it saw.
func merge(a axis, bands []band, columns int) []band {
	step := a.span() / time.Duration(columns)
	var all []band
	next := 0
	for i := range columns {
		from := a.from.Add(time.Duration(i) * step)
		to := from.Add(step)
		var worst *band
		for next < len(bands) && !bands[next].to.After(from) {
			next++
		}
		for j := next; j < len(bands) && bands[j].from.Before(to); j++ {
			if worst == nil || slices.Index(moods, bands[j].mood) < slices.Index(moods, worst.mood) {
				worst = &bands[j]
			}
		}
		if worst == nil {
			continue
		}
		if n := len(all); n > 0 && all[n-1].state == worst.state && all[n-1].to.Equal(from) {
			all[n-1].to = to
			continue
		}
		all = append(all, band{from: from, to: to, state: worst.state, mood: worst.mood, text: "changes too often to draw: the worst of this span"})
	}
	return all
}
