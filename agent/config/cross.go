package config

import (
	"net/netip"
	"net/url"
)

// cross reports what is right by itself and wrong together.
func (p *parser) cross(c *Config, raw rawConfig) {
	p.crossNames(c.Services, raw.Services)
	p.crossLinks(c.Services, raw.Services)
	p.crossRoutes(c.Services, raw.Services)
	p.crossDrainFiles(c.Services, raw.Services)
	p.crossPeers(c, raw.BGP)
	p.crossServers(c.Services, raw.Services)
	p.budgets(c.Services, raw.Services)
}

// crossNames reports services with one name.
func (p *parser) crossNames(services []Service, raw []rawService) {
	first := map[string]int{}
	for i, s := range services {
		if s.Name == "" || p.isExcused(index("services", i)) {
			continue // reported already
		}
		j, again := first[s.Name]
		if again && !p.sharesLink(services[i], services[j], raw[i]) {
			p.fail(index("services", i)+".name", raw[i].Name,
				"is the name of %s too (%s); give each service its own", index("services", j), s.Name)
			continue
		}
		if !again {
			first[s.Name] = i
		}
	}
}

// sharesLink reports whether two services have one name only since they have
// one link, which is reported by itself.
func (p *parser) sharesLink(a, b Service, raw rawService) bool {
	return raw.Name == nil && a.Link.Name == b.Link.Name &&
		(a.Link.Kind != KindExisting || b.Link.Kind != KindExisting)
}

// crossLinks reports services with one link, which would take each other's
// addresses down. Links that somebody else makes are never set down.
func (p *parser) crossLinks(services []Service, raw []rawService) {
	first := map[string]int{}
	for i, s := range services {
		if s.Link.Name == "" || p.isExcused(index("services", i)) {
			continue // reported already
		}
		j, again := first[s.Link.Name]
		if again && (s.Link.Kind != KindExisting || services[j].Link.Kind != KindExisting) {
			p.fail(index("services", i)+".link.name", raw[i].Link.Name,
				"is the link of %s too (%s); give each service its own", index("services", j), s.Link.Name)
			continue
		}
		if !again {
			first[s.Link.Name] = i
		}
	}
}

// claim is a prefix that a service has or announces.
type claim struct {
	service int
	list    string // path of addresses or announce
	item    int
	text    scalar
	prefix  netip.Prefix
}

// path returns where the claim stands.
func (c claim) path() string { return index(c.list, c.item) }

// claims returns the valid claims of all services.
func claims(services []Service, raw []rawService) []claim {
	var all []claim
	add := func(i int, key string, prefixes []netip.Prefix, texts []scalar) {
		for j, r := range prefixes {
			if r.IsValid() {
				all = append(all, claim{i, index("services", i) + key, j, texts[j], r})
			}
		}
	}
	for i, s := range services {
		add(i, ".addresses", s.Addresses, raw[i].Addresses)
		add(i, ".announce", s.Announce, raw[i].Announce)
	}
	return all
}

// crossRoutes reports addresses and announced prefixes of different services
// that overlap, since one that stays would draw the clients of one that left.
func (p *parser) crossRoutes(services []Service, raw []rawService) {
	all := claims(services, raw)
	for i, later := range all {
		for _, earlier := range all[:i] {
			if p.overlap(earlier, later) {
				break
			}
		}
	}
}

// overlap reports two claims that exclude each other, and returns whether they
// do.
func (p *parser) overlap(a, b claim) bool {
	switch {
	case a.list == b.list && a.prefix == b.prefix:
		p.fail(b.path(), &b.text, "is %s too", a.path())
	case a.service != b.service && a.prefix == b.prefix:
		p.fail(b.path(), &b.text, "is %s too; two services share no address", a.path())
	case a.service != b.service && a.prefix.Overlaps(b.prefix):
		p.fail(b.path(), &b.text, "overlaps %s (%s); it would draw clients after one of the two has left",
			a.path(), a.prefix)
	default:
		return false
	}
	return true
}

// crossDrainFiles reports services with one drain_file, which is likely a slip
// and yet a way to drain both.
func (p *parser) crossDrainFiles(services []Service, raw []rawService) {
	first := map[string]int{}
	for i, s := range services {
		if s.DrainFile == "" {
			continue
		}
		if j, again := first[s.DrainFile]; again {
			p.warn(index("services", i)+".drain_file", raw[i].DrainFile,
				"is that of %s too, so that it drains both", index("services", j))
			continue
		}
		first[s.DrainFile] = i
	}
}

// crossPeers reports peers that are each other, and addresses of sessions that
// are a service's: those go when the service leaves.
func (p *parser) crossPeers(c *Config, raw rawBGP) {
	own := map[netip.Addr]string{}
	for i, s := range c.Services {
		for j, r := range s.Addresses {
			own[r.Addr()] = index(index("services", i)+".addresses", j)
		}
	}
	delete(own, netip.Addr{})
	first := map[netip.Addr]string{}
	for i, peer := range c.BGP.Peers {
		path, r := index("bgp.peers", i), raw.Peers[i]
		p.notService(path+".address", r.Address, peer.Address, own)
		p.notService(path+".local_address", r.LocalAddress, peer.LocalAddress, own)
		p.notService(path+".next_hop_v4", r.NextHopV4, peer.NextHopV4, own)
		p.notService(path+".next_hop_v6", r.NextHopV6, peer.NextHopV6, own)
		if where, again := first[peer.Address]; again && peer.Address.IsValid() {
			p.fail(path+".address", r.Address, "is that of %s too; a router is one peer", where)
			continue
		}
		first[peer.Address] = path
	}
	p.notService("bgp.listen", raw.Listen, c.BGP.Listen.Addr(), own)
	p.notService("bgp.router_id", raw.RouterID, c.BGP.RouterID, own)
}

// notService reports an address that is one of the service addresses.
func (p *parser) notService(path string, s *scalar, a netip.Addr, own map[netip.Addr]string) {
	if where, ok := own[a]; ok {
		p.fail(path, s, "is a service address (%s), which every node of the service has", where)
	}
}

// crossServers reports checks that ask their own service's addresses. Those
// are not there before the checks have passed, so that would be never.
func (p *parser) crossServers(services []Service, raw []rawService) {
	for i, s := range services {
		if s.Link.Kind == KindExisting && s.Link.WhenOut == WhenOutKeep {
			continue // the addresses are always there
		}
		for j, c := range s.Checks {
			at := index(index("services", i)+".checks", j)
			if c.DNS != nil {
				p.ownServer(at+".dns.server", raw[i].Checks[j].DNS.Server, c.DNS.Server.Addr.Addr(), s)
			}
			if c.TCP != nil {
				p.ownServer(at+".tcp.address", raw[i].Checks[j].TCP.Address, c.TCP.Address.Addr(), s)
			}
			if c.HTTP != nil {
				p.ownServer(at+".http.url", raw[i].Checks[j].HTTP.URL, hostOf(c.HTTP.URL), s)
			}
		}
	}
}

// ownServer reports a server that is an address of the service itself.
func (p *parser) ownServer(path string, text *scalar, server netip.Addr, s Service) {
	for _, r := range s.Addresses {
		if r.IsValid() && r.Addr() == server {
			p.fail(path, text, "is a service address, which is there only after the checks have passed; "+
				"use 127.0.0.1 or the node's own address (%s asks the service addresses)", ServicePathName)
		}
	}
}

// hostOf returns the address that a URL names, zero if it names none.
func hostOf(text string) netip.Addr {
	u, err := url.Parse(text)
	if err != nil {
		return netip.Addr{}
	}
	a, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}
