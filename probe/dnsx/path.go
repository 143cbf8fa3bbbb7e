package dnsx

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"recuse/probe"
)

// PathConfig is a question to every address of a service, the way a client
// would ask it.
type PathConfig struct {
	// Addresses are the service addresses, all of which are asked.
	Addresses []netip.Addr
	// Port is the servers' port; zero stands for 53.
	Port uint16
	// Source is the source address; zero stands for the loopback address, then
	// for what the kernel picks.
	Source netip.Addr
	// Question is asked over UDP; its Server and Local do not count.
	Question Config
}

// Path asks every service address at once. It is safe for concurrent use.
type Path struct{ targets []*target }

var _ probe.Prober = (*Path)(nil)

// NewPath returns a path prober for c, or an error that says which rule c
// breaks.
func NewPath(c PathConfig) (*Path, error) {
	if len(c.Addresses) == 0 {
		return nil, errors.New("no service address to ask")
	}
	if c.Port == 0 {
		c.Port = defaultPort
	}
	p := &Path{}
	for _, a := range c.Addresses {
		t, err := newTarget(c, a.Unmap())
		if err != nil {
			return nil, err
		}
		p.targets = append(p.targets, t)
	}
	return p, nil
}

// Probe asks every address. The worst result counts, its Outcome led by the
// address if something is wrong; the times span all of them, and an answer from
// any is a sign of life.
func (p *Path) Probe(ctx context.Context) probe.Result {
	res, late := p.ProbePatiently(ctx)
	patiently(finding{}, late)
	return res
}

// ProbePatiently is Probe, but keeps the sockets for answers that come late.
func (p *Path) ProbePatiently(ctx context.Context) (probe.Result, probe.Late) {
	sent := time.Now()
	found := make(chan heard, len(p.targets))
	for _, t := range p.targets {
		go func() {
			f, late := t.askPatiently(ctx)
			found <- heard{named: named{addr: t.addr, finding: f}, late: late}
		}()
	}
	var all []heard
	for range p.targets {
		all = append(all, <-found)
	}
	worst, alive := all[0].named, false
	for _, h := range all {
		alive = alive || h.alive
		worst = worse(worst, h.named)
	}
	worst.text, worst.alive = worst.outcome(), alive
	return worst.since(sent), anyOf(all)
}

// heard is what came of asking one address, and what may still come.
type heard struct {
	named
	late probe.Late // nil: nothing
}

// named is the finding of one address.
type named struct {
	addr netip.Addr
	finding
}

// outcome returns the text for people.
func (n named) outcome() string {
	if n.cause == probe.Passed {
		return n.text
	}
	return fmt.Sprintf("%v: %s", n.addr, n.text)
}

// worse returns the worse of two findings; of two alike, that of the lower
// address, so that the outcome does not depend on which came first.
func worse(a, b named) named {
	switch x, y := badness(a.cause), badness(b.cause); {
	case y > x, x == y && b.addr.Less(a.addr):
		return b
	}
	return a
}

// badness orders causes by what they mean for a client of the address.
func badness(c probe.Cause) int {
	switch c {
	case probe.Passed:
		return 0
	case probe.Unmade:
		return 1
	case probe.Wrong:
		return 2
	case probe.Silent:
		return 3
	default:
		return 4
	}
}
