package dnsx

import (
	"context"
	"fmt"
	"net/netip"

	"recuse/probe"
)

var (
	_ probe.Signer  = (*Path)(nil)
	_ probe.Patient = (*Path)(nil)
)

// Signs returns the signs of every address, each asked for from the source that
// works for it.
func (p *Path) Signs() []probe.Sign {
	var list []probe.Sign
	for _, t := range p.targets {
		for i, s := range t.sources[0].Signs() {
			list = append(list, probe.Sign{Paid: s.Paid, Look: at(t.addr, func(ctx context.Context) string {
				from, _ := t.source()
				return t.sources[from].Signs()[i].Look(ctx)
			})})
		}
	}
	return list
}

// at puts an address before what is seen there.
func at(addr netip.Addr, look probe.Late) probe.Late {
	return func(ctx context.Context) string {
		if what := look(ctx); what != "" {
			return fmt.Sprintf("%v: %s", addr, what)
		}
		return ""
	}
}

// anyOf waits for the first of several late answers, nil if there is none to
// wait for. It ends the others then.
func anyOf(all []heard) probe.Late {
	var lates []probe.Late
	for _, h := range all {
		if h.late != nil {
			lates = append(lates, at(h.addr, h.late))
		}
	}
	if lates == nil {
		return nil
	}
	return func(ctx context.Context) string { return firstOf(ctx, lates) }
}

// firstOf returns what the first of several waits saw, and ends the others.
func firstOf(ctx context.Context, lates []probe.Late) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := make(chan string, len(lates))
	for _, late := range lates {
		go func() { seen <- late(ctx) }()
	}
	first := ""
	for range lates {
		if what := <-seen; what != "" && first == "" {
			first = what
			cancel()
		}
	}
	return first
}
