package doctor

import (
	"encoding/json"
	"net/netip"
	"strings"
)

// truth is whether a match holds for a packet of which not all is known.
type truth uint8

// The truths.
const (
	no truth = iota
	maybe
	yes
)

// truthOf is yes or no.
func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// matches judges one match statement.
func (r Ruleset) matches(c *chain, body json.RawMessage, p packet) truth {
	var m struct {
		Op          string
		Left, Right json.RawMessage
	}
	if json.Unmarshal(body, &m) != nil {
		return maybe
	}
	v := valueOfPacket(m.Left, p)
	switch {
	case v.absent:
		return no
	case !v.known:
		return maybe
	}
	is := r.holds(c, m.Right, v)
	switch m.Op {
	case "==", "in":
		return is
	case "!=":
		return yes - is
	}
	return maybe
}

// elements are those of a set or a map: written out, or by its name.
func (r Ruleset) elements(c *chain, data json.RawMessage) []json.RawMessage {
	var name string
	if json.Unmarshal(data, &name) == nil {
		return r.sets[key(c.family, c.table, strings.TrimPrefix(name, "@"))]
	}
	var list struct{ Set []json.RawMessage }
	_ = json.Unmarshal(data, &list) // what is none has no elements
	return list.Set
}

// holds tells whether the right side of a match holds a value.
func (r Ruleset) holds(c *chain, right json.RawMessage, v value) truth {
	if !v.known {
		return maybe
	}
	var text string
	if json.Unmarshal(right, &text) == nil {
		if strings.HasPrefix(text, "@") {
			return r.any(c, r.elements(c, right), v)
		}
		return v.is(text)
	}
	var number int
	if json.Unmarshal(right, &number) == nil {
		return v.isNumber(number)
	}
	var list []json.RawMessage
	if json.Unmarshal(right, &list) == nil {
		return r.any(c, list, v)
	}
	return r.within(c, right, v)
}

// within is holds for what is written as an object.
func (r Ruleset) within(c *chain, right json.RawMessage, v value) truth {
	var o struct {
		Set    []json.RawMessage
		Range  []json.RawMessage
		Prefix *struct {
			Addr string
			Len  int
		}
		Elem *struct{ Val json.RawMessage }
	}
	if json.Unmarshal(right, &o) != nil {
		return maybe
	}
	switch {
	case o.Set != nil:
		return r.any(c, o.Set, v)
	case o.Elem != nil:
		return r.holds(c, o.Elem.Val, v)
	case o.Prefix != nil:
		a, err := netip.ParseAddr(o.Prefix.Addr)
		return truthOf(err == nil && netip.PrefixFrom(a, o.Prefix.Len).Contains(v.addr))
	case len(o.Range) == 2:
		return v.between(o.Range[0], o.Range[1])
	}
	return maybe
}

// any tells whether one of several holds the value.
func (r Ruleset) any(c *chain, list []json.RawMessage, v value) truth {
	is := no
	for _, e := range list {
		is = max(is, r.holds(c, e, v))
	}
	return is
}

// is compares with a name or an address; a name may end in *.
func (v value) is(text string) truth {
	if v.addr.IsValid() {
		a, err := netip.ParseAddr(text)
		return truthOf(err == nil && a == v.addr)
	}
	if start, ok := strings.CutSuffix(text, "*"); ok {
		return truthOf(v.text != "" && strings.HasPrefix(v.text, start))
	}
	return truthOf(v.text == text)
}

// isNumber compares with a number. What stands for a name may not be known.
func (v value) isNumber(number int) truth {
	switch {
	case v.addr.IsValid():
		return no
	case v.text != "" && v.number == 0:
		return maybe
	}
	return truthOf(v.number == number)
}

// between compares with a range of ports or of addresses.
func (v value) between(low, high json.RawMessage) truth {
	var ports [2]int
	if json.Unmarshal(low, &ports[0]) == nil && json.Unmarshal(high, &ports[1]) == nil {
		return truthOf(!v.addr.IsValid() && v.text == "" && ports[0] <= v.number && v.number <= ports[1])
	}
	var texts [2]string
	if json.Unmarshal(low, &texts[0]) != nil || json.Unmarshal(high, &texts[1]) != nil {
		return maybe
	}
	a, errLow := netip.ParseAddr(texts[0])
	z, errHigh := netip.ParseAddr(texts[1])
	return truthOf(errLow == nil && errHigh == nil && v.addr.IsValid() && !v.addr.Less(a) && !z.Less(v.addr))
}
