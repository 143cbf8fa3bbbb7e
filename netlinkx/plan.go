package netlinkx

import (
	"fmt"
	"net/netip"
	"slices"
)

// own reports why l must not be touched on c's behalf, if so.
func own(c Config, l Link) error {
	switch {
	case !l.Exists || !c.made():
		return nil
	case l.Alias != c.alias() && !halfMade(c, l):
		return &ForeignError{Link: c.Link, Want: c.alias(), Alias: l.Alias}
	case l.Kind != c.Kind:
		return fmt.Errorf("link %q: %w: it is of kind %s, not %s; delete it with "+
			"\"ip link delete %s\", or set kind: %s", c.Link, ErrForeign, l.Kind, c.Kind,
			c.Link, l.Kind)
	}
	return nil
}

// halfMade says whether l is ours, created by an agent that was killed before
// it could set the alias.
func halfMade(c Config, l Link) bool {
	return l.Exists && l.Alias == "" && l.Hardware == c.hardware()
}

// planEnsure returns the steps to a link that exists and to guards that stand.
// The guards come first, so that there is no moment without them.
func planEnsure(c Config, l Link, guards []netip.Prefix) ([]Op, error) {
	if err := own(c, l); err != nil {
		return nil, err
	}
	if !c.made() && !l.Exists {
		return nil, fmt.Errorf("link %q: %w: kind existing leaves it to somebody else to make "+
			"it; make it, or set kind: dummy", c.Link, ErrNoLink)
	}
	var ops []Op
	for _, p := range c.guards() {
		if !slices.Contains(guards, p) {
			ops = append(ops, Op{Verb: AddGuard, Prefix: p})
		}
	}
	if !l.Exists {
		ops = append(ops, Op{Verb: CreateLink, Link: c.Link, Kind: c.Kind, Hardware: c.hardware()})
	}
	if c.made() && l.Alias != c.alias() {
		ops = append(ops, Op{Verb: MarkLink, Link: c.Link, Index: l.Index, Alias: c.alias()})
	}
	return ops, nil
}

// planRaise returns the steps of planEnsure and those to the link up with every
// address. Addresses come after up, since a down link keeps an IPv6 address
// tentative.
func planRaise(c Config, l Link, guards []netip.Prefix) ([]Op, error) {
	ops, err := planEnsure(c, l, guards)
	if err != nil {
		return nil, err
	}
	if c.made() && !l.Up {
		ops = append(ops, Op{Verb: SetLinkUp, Link: c.Link, Index: l.Index})
	}
	for _, p := range c.Addresses {
		op := Op{Verb: AddAddress, Link: c.Link, Index: l.Index, Prefix: p}
		a, found := l.address(p)
		switch {
		case found && a.Right && (a.Usable || !c.made() && !l.Up):
			continue // on a foreign link that is down nothing can make it usable
		case found:
			op.Verb = RepairAddress
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// planLower returns the steps to a link that serves nobody: down, or, if it is
// not ours, without our addresses.
func planLower(c Config, l Link) ([]Op, error) {
	if err := own(c, l); err != nil {
		return nil, err
	}
	if !c.made() {
		return planStrip(c, l), nil
	}
	if !l.Up {
		return nil, nil
	}
	return []Op{{Verb: SetLinkDown, Link: c.Link, Index: l.Index}}, nil
}

// planStrip returns the steps that take our addresses off l.
func planStrip(c Config, l Link) []Op {
	var ops []Op
	for _, p := range c.Addresses {
		if _, found := l.address(p); found {
			ops = append(ops, Op{Verb: DeleteAddress, Link: c.Link, Index: l.Index, Prefix: p})
		}
	}
	return ops
}

// planRemove returns the steps to a box on which nothing of ours is left. A
// link that is not ours is left alone without an error.
func planRemove(c Config, l Link, guards []netip.Prefix) []Op {
	var ops []Op
	switch {
	case !c.made():
		ops = planStrip(c, l)
	case l.Exists && own(c, l) == nil:
		ops = append(ops, Op{Verb: DeleteLink, Link: c.Link, Index: l.Index})
	}
	return append(ops, planUnguard(c, guards)...)
}

// planUnguard returns the steps that take our unreachable routes away.
func planUnguard(c Config, guards []netip.Prefix) []Op {
	var ops []Op
	for _, p := range c.guards() {
		if slices.Contains(guards, p) {
			ops = append(ops, Op{Verb: DeleteGuard, Prefix: p})
		}
	}
	return ops
}
