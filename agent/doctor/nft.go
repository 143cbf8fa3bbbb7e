package doctor

import (
	"encoding/json"
	"fmt"
)

// Ruleset is the packet filter of a box, as `nft -j list ruleset` prints it.
type Ruleset struct {
	chains []*chain
	byName map[string]*chain
	sets   map[string][]json.RawMessage // sets and maps
}

// chain is a list of rules. One without a hook is only jumped to.
type chain struct {
	family, table, name string
	kind, hook, policy  string
	rules               []rule
}

// rule is a list of statements, each an object with one key.
type rule struct {
	handle int
	expr   []map[string]json.RawMessage
}

// object is what the list of a ruleset holds, one of its fields set.
type object struct {
	Chain *struct {
		Family, Table, Name, Type, Hook, Policy string
	}
	Rule *struct {
		Family, Table, Chain string
		Handle               int
		Expr                 []map[string]json.RawMessage
	}
	Set, Map *struct {
		Family, Table, Name string
		Elem                []json.RawMessage
	}
}

// ParseRules reads what `nft -j list ruleset` prints.
func ParseRules(text []byte) (Ruleset, error) {
	r := Ruleset{byName: map[string]*chain{}, sets: map[string][]json.RawMessage{}}
	var all struct{ Nftables []object }
	if err := json.Unmarshal(text, &all); err != nil {
		return r, fmt.Errorf("failed to read the rules that nft lists: %w", err)
	}
	for _, o := range all.Nftables {
		for _, s := range []*struct {
			Family, Table, Name string
			Elem                []json.RawMessage
		}{o.Set, o.Map} {
			if s != nil {
				r.sets[key(s.Family, s.Table, s.Name)] = s.Elem
			}
		}
		if c := o.Chain; c != nil {
			made := &chain{family: c.Family, table: c.Table, name: c.Name, kind: c.Type, hook: c.Hook, policy: c.Policy}
			r.chains = append(r.chains, made)
			r.byName[key(c.Family, c.Table, c.Name)] = made
		}
	}
	for _, o := range all.Nftables {
		if o.Rule == nil {
			continue
		}
		if c := r.byName[key(o.Rule.Family, o.Rule.Table, o.Rule.Chain)]; c != nil {
			c.rules = append(c.rules, rule{o.Rule.Handle, o.Rule.Expr})
		}
	}
	return r, nil
}

// key names what belongs to a table.
func key(family, table, name string) string { return family + " " + table + " " + name }

// apply says what one rule does to a packet: the outcomes, whether the rule
// surely matches, and whether it is in part an extension of iptables, whose
// content nft does not show.
func (r Ruleset) apply(c *chain, rule rule, p packet, depth int) (does outcomes, sure, foreign bool) {
	sure = true
	for _, statement := range rule.expr {
		for name, body := range statement {
			switch name {
			case "match":
				switch r.matches(c, body, p) {
				case no:
					return goOn, true, foreign
				case maybe:
					sure = false
				}
			case "vmap":
				does = r.mapped(c, body, p, depth)
			case "xt":
				foreign = true
				does = extension(body)
				sure = false
			case "counter", "log", "mangle", "notrack", "set":
			default:
				o, known := r.verdictOf(c, name, body, p, depth)
				if does |= o; !known {
					sure = false // such as limit
				}
			}
		}
	}
	if does == 0 || !sure {
		does |= goOn
	}
	return does, sure, foreign
}

// extension says what an extension of iptables may do: a target that is named,
// or anything.
func extension(body json.RawMessage) outcomes {
	var x *struct{ Type, Name string }
	if err := json.Unmarshal(body, &x); err != nil || x == nil {
		return 0
	}
	if x.Type == "target" && (x.Name == "REJECT" || x.Name == "DROP") {
		return drop
	}
	return 0
}

// verdictOf says what a statement of that name ends with; known is false for
// one that is none.
func (r Ruleset) verdictOf(c *chain, name string, body json.RawMessage, p packet, depth int) (does outcomes, known bool) {
	switch name {
	case "accept":
		return accept, true
	case "drop", "reject":
		return drop, true
	case "return":
		return back, true
	case "continue":
		return goOn, true
	case "queue":
		return accept | drop, true
	case "jump", "goto":
		var to struct{ Target string }
		target := c
		if json.Unmarshal(body, &to) == nil {
			target = r.byName[key(c.family, c.table, to.Target)]
		}
		if target == nil || depth >= deepest {
			return accept | drop | goOn, true
		}
		does = r.through(target, p, depth+1).set
		if name == "goto" && does&goOn != 0 {
			does = does&^goOn | back
		}
		return does, true
	}
	return 0, false
}

// mapped says what a map of verdicts does.
func (r Ruleset) mapped(c *chain, body json.RawMessage, p packet, depth int) outcomes {
	var m struct{ Key, Data json.RawMessage }
	if json.Unmarshal(body, &m) != nil {
		return accept | drop | goOn
	}
	v := valueOfPacket(m.Key, p)
	if v.absent {
		return goOn
	}
	does := goOn
	for _, e := range r.elements(c, m.Data) {
		var pair []json.RawMessage
		if json.Unmarshal(e, &pair) != nil || len(pair) != 2 {
			return accept | drop | goOn
		}
		is := r.holds(c, pair[0], v)
		if is == no {
			continue
		}
		var o map[string]json.RawMessage
		_ = json.Unmarshal(pair[1], &o) // what is no object has no verdict
		for name, body := range o {
			one, _ := r.verdictOf(c, name, body, p, depth)
			if does |= one; is == yes {
				return one
			}
		}
	}
	return does
}
