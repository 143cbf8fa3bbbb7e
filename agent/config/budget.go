package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"recuse/probe/dnsx"
)

// Bounds on the UDP probes that one server address gets. Resolvers that limit
// the rate of a client take more for an attack.
const (
	perSecond = 15
	perMinute = 600
)

// use is what one check asks of one server, steadily.
type use struct {
	server   netip.AddrPort
	path     string // of the check's interval
	text     *scalar
	words    string
	interval time.Duration
}

// budgets reports steady rates above the bounds, at the last check that adds
// to one. Rates that are steady meet the bound of a minute first.
func (p *parser) budgets(services []Service, raw []rawService) {
	uses := map[netip.AddrPort][]use{}
	var order []netip.AddrPort
	for _, u := range usesOf(services, raw) {
		if uses[u.server] == nil {
			order = append(order, u.server)
		}
		uses[u.server] = append(uses[u.server], u)
	}
	for _, server := range order {
		total, terms := sum(uses[server])
		if total <= perMinute {
			continue
		}
		last := uses[server][len(uses[server])-1]
		p.fail(last.path, last.text, "makes %s UDP probes a minute to %s (%s); the most is %d a minute and %d "+
			"in a second, which resolvers bear, so use a longer interval or tcp://",
			count(total), server, strings.Join(terms, ", "), perMinute, perSecond)
	}
}

// sum adds up the probes a minute and says how.
func sum(uses []use) (total float64, terms []string) {
	for _, u := range uses {
		rate := float64(time.Minute) / float64(u.interval)
		total += rate
		terms = append(terms, fmt.Sprintf("%s every %s: %s", u.words, short(u.interval), count(rate)))
	}
	return total, terms
}

// count returns a rate without digits that say nothing.
func count(rate float64) string { return strconv.FormatFloat(rate, 'f', -1, 32) }

// usesOf returns what all checks ask of servers over UDP, the checks of the
// service paths among them.
func usesOf(services []Service, raw []rawService) []use {
	var uses []use
	for i, s := range services {
		path := false
		for j, c := range s.Checks {
			if c.DNS == nil || !c.DNS.Server.Addr.IsValid() {
				continue
			}
			at := index(index("services", i)+".checks", j)
			u := use{path: at + ".interval", text: raw[i].Checks[j].Interval, words: at, interval: c.Interval}
			if isUDP(c.DNS.Server) {
				uses = append(uses, u.of(c.DNS.Server.Addr))
			}
			if !path && !s.ServicePath.Off && isUDP(c.DNS.Server) {
				u.words = ServicePathName + " of " + index("services", i)
				for _, r := range s.Addresses {
					uses = append(uses, u.of(netip.AddrPortFrom(r.Addr(), c.DNS.Server.Addr.Port())))
				}
			}
			path = true
		}
	}
	return uses
}

// of returns the use with a server.
func (u use) of(server netip.AddrPort) use {
	u.server = server
	return u
}

// isUDP reports whether a server is asked over UDP.
func isUDP(s dnsx.Server) bool { return s.Net == "udp" }
