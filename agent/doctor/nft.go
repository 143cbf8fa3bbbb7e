package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
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
	prio                int // the lower, the earlier
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
		Prio                                    int
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
			made := &chain{family: c.Family, table: c.Table, name: c.Name, kind: c.Type, hook: c.Hook, policy: c.Policy, prio: c.Prio}
			r.chains = append(r.chains, made)
			r.byName[key(c.Family, c.Table, c.Name)] = made
		}
	}
	slices.SortStableFunc(r.chains, inOrder)
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
