package doctor

import (
	"fmt"
	"net/netip"
	"strings"

	"recuse/agent"
)

// packet is what comes from outside.
type packet struct {
	in       string // the link by which it comes
	from, to netip.Addr
	tcp      bool
	port     uint16
	what     string // for people
	why      string
}

// transport names the packet's protocol as nft does.
func (p packet) transport() string { return transports[p.tcp] }

// firewall plays the packets that must come in through the node's own rules.
func firewall(b *Box) []Finding {
	const why = "what a firewall drops, the checks do not see: they ask from this box"
	if b.Rules.Err != nil {
		return unread(b.Rules.Err, why)
	}
	var found []Finding
	told := map[string]bool{}
	for _, p := range b.expected() {
		o := b.Rules.Value.judge(p)
		seen := fmt.Sprintf("%s drops %s", o.where, p.what)
		switch {
		case told[seen]:
		case o.set == drop:
			found = append(found, Finding{Severity: Error, Seen: seen, Why: p.why,
				WayOut: fmt.Sprintf("nft insert rule %s %s dport %d accept, and the same in the file that the rules come from",
					o.chain, p.transport(), p.port)})
		case o.set&drop != 0 && o.foreign:
			found = append(found, unread(fmt.Errorf("whether %s gets through cannot be judged: chain %s has rules of iptables extensions",
				p.what, o.chain), p.why)...)
		}
		told[seen] = true
	}
	return found
}

// expected are the packets that must come in, by the link to each peer: queries,
// the routers' BFD, and their BGP where the agent listens.
func (b *Box) expected() []packet {
	var all []packet
	for i, p := range b.Config.BGP.Peers {
		w := b.Ways[i]
		if w.Err != nil {
			continue
		}
		in := packet{in: w.Value.Link, from: p.Address.WithZone(""), to: w.Value.Source}
		if p.BFD != nil {
			in.port = portBFD
			if p.Multihop > 1 {
				in.port = portMultihop
			}
			in.what = fmt.Sprintf("BFD from %s (udp port %d)", p.Address, in.port)
			in.why = "BFD never comes up, and a frozen node stays in the routing for the BGP hold time"
			all = append(all, in)
		}
		if l := b.Config.BGP.Listen; l.IsValid() {
			in.tcp, in.port = true, l.Port()
			in.what = fmt.Sprintf("BGP from %s (tcp port %d)", p.Address, in.port)
			in.why = "the router cannot connect to bgp.listen"
			all = append(all, in)
		}
		all = append(all, b.queries(w.Value.Link)...)
	}
	return all
}

// queries are those of clients anywhere that come by a link.
func (b *Box) queries(link string) []packet {
	var all []packet
	for _, s := range b.Config.Services {
		c, ok := agent.PathCheck(s)
		if !ok {
			continue
		}
		for _, a := range s.Addresses {
			for _, tcp := range []bool{false, true} {
				p := packet{in: link, to: a.Addr(), tcp: tcp, port: c.DNS.Server.Addr.Port()}
				p.what = fmt.Sprintf("queries to %s (%s)", netip.AddrPortFrom(p.to, p.port), p.transport())
				p.why = "the node is announced and fit by its own checks, and clients get no answer"
				all = append(all, p)
			}
		}
	}
	return all
}

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
	foreign      bool   // a rule was met that is not nft's own
}

// judge plays a packet through every chain that meets it on its way in. A
// packet must pass all of them.
func (r Ruleset) judge(p packet) verdict {
	result := verdict{set: accept}
	for _, c := range r.chains {
		if !c.meets(p) {
			continue
		}
		v := r.through(c, p, 0)
		result.foreign = result.foreign || v.foreign
		switch {
		case v.set == drop:
			v.foreign = result.foreign
			return v
		case v.set&drop != 0:
			result.set |= drop
			result.where, result.chain = v.where, v.chain
		}
	}
	return result
}

// meets tells whether a base chain sees the packet.
func (c *chain) meets(p packet) bool {
	return c.kind == "filter" && (c.hook == "input" || c.hook == "prerouting") && c.sees(p)
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
		does, sure, foreign := r.apply(c, rule, p, depth)
		v.foreign = v.foreign || foreign
		last := sure && does&goOn == 0
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
