package quest

import "fmt"

// dnsdist resolves nothing: it is a packet cache before the authority.
var dnsdist = resolver{
	name: "dnsdist", note: "packet cache of 10,000, before the authority", program: "dnsdist", debian: "dnsdist",
	version: []string{"--version"},
	limit:   "addAction(MaxQPSIPRule(%d), DropAction())",
	config: func(s site) string {
		return fmt.Sprintf(`setSecurityPollSuffix("")
setLocal("%s:53")
setACL("0.0.0.0/0")
newServer({address="%s:53"})
newServer({address="%s:53", pool="home"})
addAction({"lan.", "10.in-addr.arpa."}, PoolAction("home"))
getPool(""):setCache(newPacketCache(10000))
getPool("home"):setCache(newPacketCache(10000))
%s
`, s.listen, s.internet, s.home, s.limit)
	},
	argv: func(program, config string) []string {
		return []string{program, "--supervised", "--disable-syslog", "-C", config}
	},
}
