package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// outcomes are what rules may come to for a packet: a set, since a match may
// hang on what is not known of it.
type outcomes uint8

// The outcomes. goOn leads to the next rule, back to the end of the chain.
const (
	accept outcomes = 1 << iota
	drop
	goOn
	back
)

// verdict is what the rules come to.
type verdict struct {
	set          outcomes
	where, chain string // the rule or the policy that drops
	side
}

// judge plays a packet through every chain that meets it on its way in. A
// packet must pass all of them. What a packet that got another address or port
// meets is not known.
func (r Ruleset) judge(p packet) verdict {
	result := verdict{set: accept}
	for _, c := range r.chains {
		if !c.meets(p) {
			continue
		}
		v := r.through(c, p, 0)
		result.add(v.side)
		if c.prio < tracking {
			p.untracked = result.untracked
		}
		switch {
		case c.kind == "nat":
		case v.set == drop && !result.moved:
			v.side = result.side
			return v
		case v.set&drop != 0:
			result.set |= drop
			result.where, result.chain = v.where, v.chain
		}
	}
	return result
}

// tracking is the priority of connection tracking on the prerouting hook.
const tracking = -200

// hooks are those that a packet meets on its way in, in this order.
var hooks = []string{"prerouting", "input"}

// inOrder orders chains as a packet meets them.
func inOrder(a, b *chain) int {
	return cmp.Or(cmp.Compare(slices.Index(hooks, a.hook), slices.Index(hooks, b.hook)), cmp.Compare(a.prio, b.prio))
}

// meets tells whether a base chain sees the packet, to filter it or to give it
// another address or port.
func (c *chain) meets(p packet) bool {
	return slices.Contains(hooks, c.hook) && (c.kind == "filter" || c.kind == "nat") && c.sees(p)
}

// sees tells whether a chain is of the packet's family.
func (c *chain) sees(p packet) bool {
	switch c.family {
	case "inet":
		return true
	case "ip":
		return p.to.Is4()
	case "ip6":
		return p.to.Is6()
	}
	return false
}

// deepest bounds jumps; the kernel's own bound is 16.
const deepest = 16

// through plays a packet through one chain. The set of a chain that is jumped
// to may hold goOn.
func (r Ruleset) through(c *chain, p packet, depth int) verdict {
	var v verdict
	for _, rule := range c.rules {
		e := r.apply(c, rule, p, depth)
		v.add(e.side)
		does, last := e.does, e.sure && e.does&goOn == 0
		if does&drop != 0 && (last || v.where == "") {
			v.blame(c, fmt.Sprintf("rule handle %d of nft chain %%s", rule.handle))
		}
		v.set |= does &^ (goOn | back)
		if does&back != 0 {
			v.set |= c.end()
		}
		if last {
			return v
		}
	}
	if c.end() == drop {
		v.blame(c, "the policy of nft chain %s")
	}
	v.set |= c.end()
	return v
}

// blame notes what drops.
func (v *verdict) blame(c *chain, format string) {
	v.chain = strings.Join([]string{c.family, c.table, c.name}, " ")
	v.where = fmt.Sprintf(format, v.chain)
}

// end is what comes at the end of a chain.
func (c *chain) end() outcomes {
	switch {
	case c.hook == "":
		return goOn
	case c.policy == "drop":
		return drop
	}
	return accept
}
