package probe

import "time"

const (
	// roundMost is the most time between two rounds of looking for a sign of
	// life, and signsApart the most between two signs of one round.
	roundMost  = time.Second
	signsApart = 100 * time.Millisecond
)

// vigil says when a server whose own question is late is asked for which sign
// of life. It is a plain value.
//
// A round asks for one sign after the other until one is seen, beginning with
// the one that was seen last: a server that lives costs one question a round,
// and one that is dead costs no burst. A silence that is long enough to mean
// Dead holds three rounds. Once it has, they are as far apart as that silence,
// since the only thing left to find is that a dead server hangs instead.
type vigil struct {
	signs        int           // how many there are
	silence      time.Duration // how long means Dead
	first, asked int           // the sign that goes first, and how many were asked
	began, due   time.Time     // when the round began and its next sign goes
}

// next returns the time at which the next sign is to be asked for, if nothing
// has shown life since seen.
func (g vigil) next(seen time.Time, dead bool) time.Time {
	if g.asked < g.signs && !g.began.IsZero() && seen.Before(g.began) {
		return g.due
	}
	return later(seen, g.began).Add(g.round(dead))
}

// take returns the index of the sign to ask for at now, which is not before
// next.
func (g vigil) take(seen, now time.Time) (int, vigil) {
	if g.asked >= g.signs || g.began.IsZero() || !seen.Before(g.began) {
		g.began, g.asked = now, 0
	}
	sign := g.order(g.asked)
	g.asked++
	g.due = now.Add(min(signsApart, g.round(false)/time.Duration(g.signs+1)))
	return sign, g
}

// order returns which sign is the nth of a round.
func (g vigil) order(n int) int {
	switch {
	case n == 0:
		return g.first
	case n <= g.first:
		return n - 1
	}
	return n
}

// saw notes that the sign was seen.
func (g vigil) saw(sign int) vigil {
	g.first = sign
	return g
}

// round returns the time between two rounds.
func (g vigil) round(dead bool) time.Duration {
	if dead {
		return max(g.silence, roundMost)
	}
	return min(g.silence/3, roundMost)
}
