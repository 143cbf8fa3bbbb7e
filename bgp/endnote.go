package bgp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// endNote collects why a session ended. Its methods may be called from both
// directions at once; the first NOTIFICATION counts, since the next ones
// answer it.
type endNote struct {
	mu      sync.Mutex
	open    *open
	said    *notification
	byUs    bool
	why     string
	upSince time.Time
	tooSlow bool
}

// opened notes the router's first OPEN and reports whether it was the first.
func (e *endNote) opened(o open) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open != nil {
		return false
	}
	e.open = &o
	return true
}

// established notes that the session came up now.
func (e *endNote) established() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.upSince = time.Now()
}

// slow notes that the session did not come up in time.
func (e *endNote) slow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tooSlow = true
}

// received notes the router's NOTIFICATION.
func (e *endNote) received(n notification) { e.note(n, false, "") }

// sent notes a NOTIFICATION of ours; why overrides its words.
func (e *endNote) sent(n notification, why string) { e.note(n, true, why) }

// note keeps the first NOTIFICATION.
func (e *endNote) note(n notification, byUs bool, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said == nil {
		n.data = append([]byte(nil), n.data...)
		e.said, e.byUs, e.why = &n, byUs, why
	}
}

// up is how long the session has been established.
func (e *endNote) up() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.upSince.IsZero() {
		return 0
	}
	return time.Since(e.upSince)
}

// verdict classes the ending and puts it into words. err is what the first
// direction ended with.
func (e *endNote) verdict(p *peer, err error) (ending, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	up := !e.upSince.IsZero()
	if e.said == nil {
		return e.wordless(p, up, err)
	}
	kind := endBroken
	switch {
	case e.said.code == codeCease && e.said.subcode == ceaseBFD:
		kind = endBFD
	case e.why != "":
		kind = endCease
	case e.said.code == codeOpen:
		return endRefused, e.refusal(p)
	case e.said.code == codeCease && e.said.subcode == ceasePrefixes:
		if e.byUs {
			return endLimit, fmt.Sprintf("the router sent more than %d prefixes of one family, session parked for %s: filter on the router, only service prefixes are wanted", maxPrefixes, limitPause)
		}
		kind = endRefused
	case e.said.code == codeCease:
		kind = endCease
	case e.said.code == codeHold:
		kind = endLost
	}
	if e.why != "" {
		return kind, e.why
	}
	if e.byUs {
		return kind, fmt.Sprintf("we ended the session: %s", e.said)
	}
	return kind, fmt.Sprintf("the router ended the session: %s", e.said)
}

// refusal puts an OPEN error into words.
func (e *endNote) refusal(p *peer) string {
	bad := e.said.subcode == openBadPeerAS
	switch {
	case bad && e.byUs && e.open != nil:
		return fmt.Sprintf("the router is AS %d, but asn: %d is configured (bad peer AS)", e.open.asn, p.cfg.ASN)
	case bad && !e.byUs:
		return fmt.Sprintf("the router refuses our AS %d: it says bad peer AS, so its configuration for this node names another", p.asn)
	case e.said.subcode == openBadIdentifier && e.open != nil:
		return fmt.Sprintf("router-id %s clashes with the router's %s (bad BGP identifier): set bgp.router_id", p.self.id, e.open.routerID)
	case e.byUs:
		return fmt.Sprintf("we refused the router's OPEN: %s", e.said)
	}
	return fmt.Sprintf("the router refused our OPEN: %s", e.said)
}

// wordless classes an ending without a NOTIFICATION.
func (e *endNote) wordless(p *peer, up bool, err error) (ending, string) {
	switch {
	case e.tooSlow && e.open != nil:
		return endSilent, fmt.Sprintf("%s sent an OPEN, but no session came of it for %s", p.cfg.Address, openTimeout)
	case up && errors.Is(err, unix.ETIMEDOUT):
		return endLost, fmt.Sprintf("%s acknowledged nothing for the hold time of %s", p.cfg.Address, p.cfg.HoldTime)
	case up:
		return endLost, fmt.Sprintf("connection lost: %s", ioWords(err))
	case e.open == nil && (e.tooSlow || errors.Is(err, unix.ETIMEDOUT)):
		why := fmt.Sprintf("%s took the connection but sent no OPEN", p.cfg.Address)
		if p.cfg.TTLSecurity {
			why += ": ttl_security may be set on one side only"
		}
		return endSilent, why
	case e.open == nil:
		return endSilent, fmt.Sprintf("%s took the connection and ended it without a BGP message (%s): it may know no neighbour at our address, or have it shut down", p.cfg.Address, ioWords(err))
	}
	return endSilent, fmt.Sprintf("%s ended the connection before the session was up: %s", p.cfg.Address, ioWords(err))
}

// ioWords says how a connection ended.
func ioWords(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "the router closed it"
	case errors.Is(err, unix.ECONNRESET):
		return "the router reset it"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, unix.ETIMEDOUT):
		return "it timed out"
	}
	return err.Error()
}

// peerOpen returns the router's OPEN, or nil before it came.
func (e *endNote) peerOpen() *open {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}
