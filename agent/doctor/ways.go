package doctor

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"recuse/agent/control"
	"recuse/netlinkx"
)

// routes looks at the way to each peer.
func routes(b *Box) []Finding {
	var found []Finding
	for i, w := range b.Ways {
		found = append(found, b.wayTo(i, w)...)
		p := b.Config.BGP.Peers[i]
		if !p.LocalAddress.IsValid() {
			continue
		}
		if l := b.Locals[i]; l.Err != nil || !l.Value.Local {
			found = append(found, Finding{Severity: Error,
				Seen:   fmt.Sprintf("bgp.peers[%d].local_address: %s is not on this box", i, p.LocalAddress),
				Why:    "the session cannot start from it",
				WayOut: "give the box the address, or leave the setting out"})
		}
	}
	return found
}

// wayTo judges the way to one peer.
func (b *Box) wayTo(i int, w Got[netlinkx.Way]) []Finding {
	p := b.Config.BGP.Peers[i]
	at := fmt.Sprintf("bgp.peers[%d].address: %s", i, p.Address)
	one := func(seen, why, out string) []Finding {
		return []Finding{{Severity: Error, Seen: at + seen, Why: why, WayOut: out}}
	}
	// The gateway may be the router itself, by another of its addresses: a
	// session that is there says so.
	far := w.Value.Gateway.IsValid() && w.Value.Gateway != p.Address.WithZone("")
	apart := far && !b.sessionWith(p.Address.String())
	switch {
	case errors.Is(w.Err, netlinkx.ErrNoWay):
		return one(": "+w.Err.Error(), "no session can come up", "give the box an address on the router's network, or a route")
	case w.Err != nil:
		return unread(w.Err, "the session needs a route")
	case w.Value.Local:
		return one(" is an address of this box", "a node is not its own router", "set the router's address")
	case apart && p.TTLSecurity:
		return one(fmt.Sprintf(" is behind %s, with ttl_security", w.Value.Gateway),
			"packets that have crossed a router are dropped (RFC 5082)",
			"peer with a router on the link, or set multihop in place of ttl_security")
	case apart && p.ASN != b.Config.BGP.ASN && p.Multihop == 0:
		return one(fmt.Sprintf(" is behind %s, without multihop", w.Value.Gateway),
			"packets of eBGP leave with TTL 1 and do not arrive", "set multihop, such as multihop: 2, on both sides")
	case far && p.BFD != nil && p.Multihop <= 1 && !b.bfdWith(p.Address.String()):
		return one(fmt.Sprintf(" is behind %s, with bfd and without multihop", w.Value.Gateway),
			"BFD of one hop is dropped once a router has lowered its TTL (RFC 5881)", "set multihop, such as multihop: 2, on both sides")
	}
	return nil
}

// nextHops looks for families that could not be announced. The agent's own word
// about a session that is there goes before.
func nextHops(b *Box) []Finding {
	var found []Finding
	for i, err := range b.Withheld {
		p := b.Config.BGP.Peers[i]
		absent := p.LocalAddress.IsValid() && !b.Locals[i].Value.Local // a finding of its own
		if err == nil || absent || b.sessionWith(p.Address.String()) {
			continue
		}
		found = append(found, Finding{Severity: Warning,
			Seen:   fmt.Sprintf("bgp.peers[%d]: %s", i, err),
			Why:    "a family without a next hop is not announced to this router",
			WayOut: fmt.Sprintf("set bgp.peers[%d].next_hop_v4 or next_hop_v6 to this node's address on that network", i)})
	}
	return found
}

// sessionWith tells whether the agent has a session with a peer.
func (b *Box) sessionWith(address string) bool {
	for _, p := range b.Agent.Status.Peers {
		if p.Address == address {
			return p.State == established
		}
	}
	return false
}

// bfdWith tells whether the agent's BFD with a peer is up.
func (b *Box) bfdWith(address string) bool {
	return slices.ContainsFunc(b.Agent.Status.Peers, func(p control.Peer) bool {
		return p.Address == address && p.BFD != nil && p.BFD.State == "UP"
	})
}

// sources looks for packets of the node's own that would start from a service
// address: the answers could reach another node.
func sources(b *Box) []Finding {
	var found []Finding
	for _, w := range append(b.Ways[:len(b.Ways):len(b.Ways)], b.Outward[:]...) {
		if w.Err != nil || w.Value.Local || !b.serves(w.Value.Source) {
			continue
		}
		f := Finding{Severity: Error,
			Seen:   fmt.Sprintf("what leaves by %s starts from the service address %s", w.Value.Link, w.Value.Source),
			Why:    "answers to the node's own queries and sessions reach whatever node is nearest",
			WayOut: fmt.Sprintf("give %s a global address of its own, or its route a source (ip route change ... src ADDRESS)", w.Value.Link)}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	return found
}

// rpFilter looks for strict filters on the way in where the way out is another.
func rpFilter(b *Box) []Finding {
	var found []Finding
	told := map[string]bool{}
	for i, w := range b.Ways {
		out := b.otherWay(i)
		if w.Err != nil || out == "" || told[w.Value.Link] {
			continue
		}
		told[w.Value.Link] = true
		key, err := b.strict(w.Value.Link)
		switch {
		case err != nil:
			found = append(found, unread(err, "a strict filter drops queries without a word")...)
		case key != "":
			found = append(found, Finding{Severity: Warning, Seen: key + " = 1, while answers leave by " + out,
				Why:    fmt.Sprintf("queries that come in by %s from clients whose way back is %s are dropped without a word (RFC 3704)", w.Value.Link, out),
				WayOut: "sysctl -w " + key + "=2 (loose; keep it in /etc/sysctl.d)"})
		}
	}
	return found
}

// otherWay is a link other than that to peer i by which answers to IPv4 clients
// leave: that to the internet, or to another peer; "" if there is none.
func (b *Box) otherWay(i int) string {
	if !slices.ContainsFunc(announced(b.Config), func(p netip.Prefix) bool { return p.Addr().Is4() }) {
		return "" // IPv6 has no such filter
	}
	for _, w := range append([]Got[netlinkx.Way]{b.Outward[0]}, b.Ways...) {
		if w.Err == nil && !w.Value.Local && w.Value.Link != b.Ways[i].Value.Link && w.Value.Source.Is4() {
			return w.Value.Link
		}
	}
	return ""
}

// strict names the setting that makes a link's filter strict: the kernel takes
// the higher of the link's and that of all. "" if it is not strict.
func (b *Box) strict(link string) (string, error) {
	most, where := "", ""
	for _, name := range []string{"all", link} {
		v, err := b.sysctl("net/ipv4/conf", name, "rp_filter")
		if err != nil {
			return "", err
		}
		if v > most {
			most, where = v, name
		}
	}
	if most != "1" {
		return "", nil
	}
	return "net.ipv4.conf." + strings.ReplaceAll(where, ".", "/") + ".rp_filter", nil
}
