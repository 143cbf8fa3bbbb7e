package dnsx

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"recuse/probe"
)

// target is one service address and the sources to ask it from. It asks once a
// probe, from the source that worked last, and turns to the next source when
// one does not work; so a source that cannot work (a published port of a
// container drops what comes from loopback) costs a probe or two at the
// start and never a second deadline.
type target struct {
	addr    netip.Addr
	sources []*Prober

	mu     sync.Mutex
	at     int       // the source to ask from
	passed time.Time // when the newest probe that passed from there had left
}

// newTarget returns the target for a service address.
func newTarget(c PathConfig, addr netip.Addr) (*target, error) {
	t := &target{addr: addr}
	for _, local := range sourcesFor(c.Source, addr) {
		q := c.Question
		q.Server = Server{Net: "udp", Addr: netip.AddrPortFrom(addr, c.Port)}
		q.Local = local
		p, err := New(q)
		if err != nil {
			return nil, fmt.Errorf("service path to %v: %w", addr, err)
		}
		t.sources = append(t.sources, p)
	}
	return t, nil
}

// sourcesFor returns the sources to ask addr from, the zero address standing
// for the kernel's own choice. A fixed source says nothing of the other family.
func sourcesFor(fixed, addr netip.Addr) []netip.Addr {
	fixed = fixed.Unmap()
	switch {
	case fixed.IsValid() && fixed.Is4() == addr.Is4():
		return []netip.Addr{fixed}
	case addr.Is4():
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), {}}
	default:
		return []netip.Addr{netip.IPv6Loopback(), {}}
	}
}

// ask is askPatiently without the patience.
func (t *target) ask(ctx context.Context) finding { return patiently(t.askPatiently(ctx)) }

// askPatiently asks the address from the source that worked last. If nothing
// could be sent from it, or if no source has worked yet and it is refused, the
// next one is tried at once, since that costs no time.
func (t *target) askPatiently(ctx context.Context) (finding, probe.Late) {
	sent := time.Now()
	at, known := t.source()
	f, late := t.sources[at].askPatiently(ctx)
	again := f.cause == probe.Unmade && !f.alive || f.cause == probe.Refused && !known
	if again && len(t.sources) > 1 && ctx.Err() == nil {
		at = (at + 1) % len(t.sources)
		var other finding
		other, late = t.sources[at].askPatiently(ctx)
		f = firmer(f, other)
	}
	t.learn(at, sent, f)
	return f, late
}

// source returns the source to ask from, and whether it is known to work.
func (t *target) source() (at int, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at, !t.passed.IsZero()
}

// learn keeps the source that a probe passed from, and turns to the next one
// when a probe went unanswered and none that left later has passed.
func (t *target) learn(at int, sent time.Time, f finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case f.cause == probe.Passed && !sent.Before(t.passed):
		t.at, t.passed = at, sent
	case f.cause == probe.Silent && at == t.at && !sent.Before(t.passed):
		t.at, t.passed = (at+1)%len(t.sources), time.Time{}
	}
}

// firmer returns which of two findings says more of the address. The second is
// asked for only if the first is no answer, and a refusal is the kernel's word
// while silence may be a filter's.
func firmer(a, b finding) finding {
	if b.cause == probe.Unmade || b.cause == probe.Silent && a.cause == probe.Refused {
		return a
	}
	return b
}
