package doctor

import (
	"encoding/json"
	"slices"
)

// effect is what one rule, or the chain that it leads to, does to a packet.
type effect struct {
	does outcomes
	sure bool // the rule matches for certain
	side
}

// side is what rules do beside their outcome.
type side struct {
	foreign   bool  // a rule was met that is not nft's own
	untracked truth // connection tracking leaves the packet alone
	moved     bool  // the packet may have got another address or port
}

// add takes in what another rule does.
func (s *side) add(other side) {
	s.foreign = s.foreign || other.foreign
	s.untracked = max(s.untracked, other.untracked)
	s.moved = s.moved || other.moved
}

// apply says what one rule does to a packet. Of an extension of iptables nft
// does not show the content.
func (r Ruleset) apply(c *chain, rule rule, p packet, depth int) effect {
	e := effect{sure: true}
	for _, statement := range rule.expr {
		for name, body := range statement {
			if name != "match" {
				r.state(c, name, body, p, depth, &e)
				continue
			}
			switch r.matches(c, body, p) {
			case no:
				return effect{does: goOn, sure: true, side: side{foreign: e.foreign}}
			case maybe:
				e.sure = false
			}
		}
	}
	if e.does == 0 || !e.sure {
		e.does |= goOn
	}
	if !e.sure {
		e.untracked = min(e.untracked, maybe)
	}
	return e
}

// state adds what a statement does that is no match.
func (r Ruleset) state(c *chain, name string, body json.RawMessage, p packet, depth int, e *effect) {
	switch name {
	case "vmap":
		v := r.mapped(c, body, p, depth)
		e.does = v.does
		e.add(v.side)
	case "xt":
		e.does, e.sure = extension(body, &e.side), false
	case "set":
		e.sure = e.sure && !conditional(body)
	case "notrack":
		e.untracked = yes
	case "dnat", "redirect", "tproxy":
		e.moved = true
	case "counter", "log", "mangle":
	default:
		v, known := r.verdictOf(c, name, body, p, depth)
		e.does |= v.does
		e.add(v.side)
		e.sure = e.sure && known // such as limit
	}
}

// conditional tells whether a statement that adds to a set goes on only under
// a condition, such as a limit for each element.
func conditional(body json.RawMessage) bool {
	var s struct{ Stmt []map[string]json.RawMessage }
	if json.Unmarshal(body, &s) != nil {
		return true
	}
	return slices.ContainsFunc(s.Stmt, func(m map[string]json.RawMessage) bool {
		_, counts := m["counter"]
		return !counts
	})
}

// extension says what an extension of iptables may do: a target that is named,
// or anything.
func extension(body json.RawMessage, beside *side) outcomes {
	beside.foreign = true
	var x *struct{ Type, Name string }
	if err := json.Unmarshal(body, &x); err != nil || x == nil || x.Type != "target" {
		return 0
	}
	switch x.Name {
	case "REJECT", "DROP":
		return drop
	case "CT", "NOTRACK":
		beside.untracked = maybe
	case "DNAT", "REDIRECT", "TPROXY":
		beside.moved = true
	}
	return 0
}

// verdictOf says what a statement of that name ends with; known is false for
// one that is none.
func (r Ruleset) verdictOf(c *chain, name string, body json.RawMessage, p packet, depth int) (e effect, known bool) {
	simple := map[string]outcomes{"accept": accept, "drop": drop, "reject": drop, "return": back,
		"continue": goOn, "queue": accept | drop}
	if does, ok := simple[name]; ok {
		return effect{does: does}, true
	}
	if name != "jump" && name != "goto" {
		return effect{}, false
	}
	var to struct{ Target string }
	target := c
	if json.Unmarshal(body, &to) == nil {
		target = r.byName[key(c.family, c.table, to.Target)]
	}
	if target == nil || depth >= deepest {
		return effect{does: accept | drop | goOn}, true
	}
	v := r.through(target, p, depth+1)
	e = effect{does: v.set, side: v.side}
	if name == "goto" && e.does&goOn != 0 {
		e.does = e.does&^goOn | back
	}
	return e, true
}

// mapped says what a map of verdicts does.
func (r Ruleset) mapped(c *chain, body json.RawMessage, p packet, depth int) effect {
	anything := effect{does: accept | drop | goOn}
	var m struct{ Key, Data json.RawMessage }
	if json.Unmarshal(body, &m) != nil {
		return anything
	}
	v := valueOfPacket(m.Key, p)
	all := effect{does: goOn}
	if v.absent {
		return all
	}
	for _, e := range r.elements(c, m.Data) {
		var pair []json.RawMessage
		if json.Unmarshal(e, &pair) != nil || len(pair) != 2 {
			return anything
		}
		is := r.holds(c, pair[0], v)
		if is == no {
			continue
		}
		var o map[string]json.RawMessage
		_ = json.Unmarshal(pair[1], &o) // what is no object has no verdict
		for name, body := range o {
			one, _ := r.verdictOf(c, name, body, p, depth)
			all.does |= one.does
			all.add(one.side)
			if is == yes {
				return effect{does: one.does, side: all.side}
			}
		}
	}
	return all
}
