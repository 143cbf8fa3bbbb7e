package quest

import "fmt"

// dnsmasq forwards. Its cache holds 150 names, so a lease table that is larger,
// asked in order, never meets it; the second one has room. It has no limit of
// the rate.
var (
	dnsmasq      = newDnsmasq("dnsmasq", "forwards", "")
	dnsmasqLarge = newDnsmasq("dnsmasq-large", "forwards; cache-size=10000", "cache-size=10000")
)

// newDnsmasq is dnsmasq with a setting more.
func newDnsmasq(name, note, setting string) resolver {
	return resolver{
		name: name, note: note, program: "dnsmasq", debian: "dnsmasq-base", version: []string{"-v"},
		config: func(s site) string {
			return fmt.Sprintf(`listen-address=%s
bind-interfaces
no-resolv
no-hosts
no-poll
user=root
pid-file
log-facility=-
server=%s
server=/lan/10.in-addr.arpa/%s
%s
`, s.listen, s.internet, s.home, setting)
		},
		argv: func(program, config string) []string {
			return []string{program, "--keep-in-foreground", "--conf-file=" + config}
		},
	}
}
