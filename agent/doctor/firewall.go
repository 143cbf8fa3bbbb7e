package doctor

import (
	"fmt"
	"net/netip"

	"recuse/agent"
)

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
		in := packet{in: w.Value.Link, from: p.Address.WithZone(""), to: w.Value.Source, onIn: true}
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
				p := packet{in: link, to: a.Addr(), tcp: tcp, port: c.DNS.Server.Addr.Port(), onIn: link == s.Link.Name}
				p.what = fmt.Sprintf("queries to %s (%s)", netip.AddrPortFrom(p.to, p.port), p.transport())
				p.why = "the node is announced and fit by its own checks, and clients get no answer"
				all = append(all, p)
			}
		}
	}
	return all
}
