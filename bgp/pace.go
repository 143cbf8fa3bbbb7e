package bgp

import "time"

// ending says how one attempt at a session ended, as far as it matters for
// when to try again.
type ending uint8

const (
	// endUnreached: no TCP connection.
	endUnreached ending = iota
	// endSilent: the connection ended before Established without a word.
	endSilent
	// endRefused: an OPEN error, either way. Trying again changes nothing
	// until somebody changes a configuration.
	endRefused
	// endBroken: an error in another message, either way.
	endBroken
	// endCease: somebody meant to end it.
	endCease
	// endBFD: BFD went down, as one of the two found.
	endBFD
	// endLimit: the router sent more prefixes than the fuse bears.
	endLimit
	// endLost: an established session lost its connection.
	endLost
)

// eager reports whether BFD that comes up is a reason to try again at once.
func (e ending) eager() bool { return e != endRefused && e != endBroken && e != endLimit }

const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
	limitPause   = 30 * time.Second
	quickRetry   = 250 * time.Millisecond
	// eagerDials are made twice as often: a router that restarts is back
	// within them, and the routes with it.
	eagerDials = 30
	// stableAfter is how long a session must have been established to count
	// as one that worked.
	stableAfter = 10 * time.Second
)

// pace decides when to dial again. The zero value is ready.
type pace struct {
	strikes int // endings in a row that call for patience
	falls   int // of BFD, since a session was stable
	dials   int // in a row that reached nobody
}

// next returns how long to wait after an ending, and the pace from then on.
// up is how long the session was established, retry the peer's connect retry
// time, spread a random number in [0, 1) that makes the wait up to a quarter
// shorter (RFC 4271, section 10).
//
// The waits that grow are those where the router spoke and said no; a router
// that is away is asked at least every retry, so that it is found when it is
// back.
func (p pace) next(e ending, up, retry time.Duration, spread float64) (pace, time.Duration) {
	wait := retry
	stable := up >= stableAfter
	if e != endUnreached {
		p.dials = 0
	}
	switch e {
	case endUnreached:
		if p.dials < eagerDials {
			wait = retry / 2
			p.dials++
		}
	case endRefused, endBroken:
		if stable {
			p.strikes = 0
		}
		wait = min(firstBackoff<<min(p.strikes, 5), maxBackoff)
		p.strikes++
	case endLimit:
		wait = limitPause
	case endLost:
		if stable {
			wait = min(quickRetry, retry)
		}
		p.strikes = 0
	case endBFD:
		// The wait for BFD itself comes on top. FRR (8.4) makes its BFD anew
		// with its first session, and so has to be asked again at once.
		if stable {
			p.falls = 0
		}
		wait = min(quickRetry<<min(p.falls, 3), retry)
		p.strikes, p.falls = 0, p.falls+1
	case endCease:
		p.strikes = 0
	}
	return p, wait - time.Duration(spread*float64(wait)/4)
}
