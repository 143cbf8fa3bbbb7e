package config

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
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
	told := map[string]bool{}
	for _, u := range usesOf(services, raw) {
		if uses[u.server] == nil {
			order = append(order, u.server)
		}
		uses[u.server] = append(uses[u.server], u)
	}
	for _, server := range order {
		total, terms := sum(uses[server])
		last := uses[server][len(uses[server])-1]
		if total <= perMinute || told[last.path] {
			continue
		}
		told[last.path] = true
		p.fail(last.path, last.text, "too often: %s UDP probes a minute would go to %s (%s), and %d a minute "+
			"and %d in a second are the most that resolvers can be trusted to answer; use a longer interval or tcp://",
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

// count returns a rate, rounded up to a tenth.
func count(rate float64) string {
	return strconv.FormatFloat(math.Ceil(rate*10-1e-6)/10, 'f', -1, 64)
}

// usesOf returns what all checks ask of servers over UDP, the checks of the
// service paths among them.
func usesOf(services []Service, raw []rawService) []use {
	var uses []use
	for i, s := range services {
		first := true
		for j, c := range s.Checks {
			if c.DNS == nil {
				continue
			}
			at := index(index("services", i)+".checks", j)
			u := use{c.DNS.Server.Addr, at + ".interval", raw[i].Checks[j].Interval, at, c.Interval}
			if c.DNS.Server.Net == "udp" {
				uses = append(uses, u)
			}
			if first && c.DNS.Server.Net == "udp" && !s.ServicePath.Off {
				u.words = ServicePathName + " of " + index("services", i)
				uses = append(uses, u.onto(s.Addresses)...)
			}
			first = false
		}
	}
	return uses
}

// onto returns the use once for each valid service address.
func (u use) onto(addresses []netip.Prefix) []use {
	var uses []use
	for _, r := range addresses {
		if r.IsValid() {
			u.server = netip.AddrPortFrom(r.Addr(), u.server.Port())
			uses = append(uses, u)
		}
	}
	return uses
}
