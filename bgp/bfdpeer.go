package bgp

import (
	"context"
	"fmt"
	"time"
)

// barredEvery is how often BGP that waits for BFD looks whether it still must:
// a router's AdminDown is no event.
const barredEvery = 250 * time.Millisecond

// awaitBFD waits until BGP may go, and returns false if ctx is done.
func (p *peer) awaitBFD(ctx context.Context) bool {
	again := time.NewTicker(barredEvery)
	defer again.Stop()
	told := false
	for {
		wait := p.life.wait()
		if wait == 0 || ctx.Err() != nil {
			break
		}
		p.enter(Connect)
		if !told && wait > barredEvery {
			told = true
			p.waits(wait)
		}
		select {
		case <-again.C:
		case <-p.nudge:
		case <-ctx.Done():
		}
	}
	select {
	case <-p.nudge: // it is being followed
	default:
	}
	return ctx.Err() == nil
}

// waits tells that BGP waits for BFD, unless a reason of before is still there.
func (p *peer) waits(most time.Duration) {
	p.mu.Lock()
	if p.state.LastError == "" {
		p.state.LastError = fmt.Sprintf("waits for BFD with %s, until %s at most",
			p.cfg.Address, time.Now().Add(most).Format(time.TimeOnly))
	}
	p.mu.Unlock()
	p.notify()
}

// bfdUp makes a dial that is due later happen now, and reports whether BGP is
// established already.
func (p *peer) bfdUp() bool {
	if p.session() != nil {
		return true
	}
	select {
	case p.nudge <- struct{}{}:
	default:
	}
	return false
}

// bfdLost ends the session, also one that is only coming up: the router is
// about to end it for the same reason.
func (p *peer) bfdLost(why string) {
	p.mu.Lock()
	s := p.current
	p.mu.Unlock()
	if s == nil {
		return
	}
	select {
	case s.lost <- why:
	default:
	}
}

// bfdWords says what is wrong with BFD that is not up, or "".
func bfdWords(trouble string, risen, established bool) string {
	if trouble != "" && established && !risen {
		return fmt.Sprintf("never came up beside an established BGP session: %s", trouble)
	}
	return trouble
}
