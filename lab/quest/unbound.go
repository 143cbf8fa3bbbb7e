package quest

import (
	"fmt"
	"strings"

	"recuse/lab/authority"
)

// unbound answers for the addresses of RFC 1918 by itself, with NXDOMAIN, until
// it is told not to (unbound.conf, local-zone). It minimizes what it asks
// (RFC 9156): measured, four questions for the name of an address that it does
// not know, and one with qname-minimisation: no.
var unbound = resolver{
	name: "unbound", note: "resolves, with minimized questions", program: "unbound", debian: "unbound", version: []string{"-V"},
	limit:  "ip-ratelimit: %d",
	config: unboundConfig,
	argv: func(program, config string) []string {
		return []string{program, "-d", "-c", config}
	},
}

// unboundConfig is unbound.conf.
func unboundConfig(s site) string {
	var b strings.Builder
	fmt.Fprintf(&b, `server:
  directory: %q
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: %s
  access-control: 0.0.0.0/0 allow
  module-config: "iterator"
  local-zone: %q nodefault
  %s
remote-control:
  control-enable: no
`, s.dir, s.listen, authority.Reverse, s.limit)
	for _, stub := range []struct{ zone, at string }{
		{authority.Root, s.internet.String()},
		{authority.LAN, s.home.String()},
		{authority.Reverse, s.home.String()},
	} {
		fmt.Fprintf(&b, "stub-zone:\n  name: %q\n  stub-prime: no\n  stub-addr: %s\n", stub.zone, stub.at)
	}
	return b.String()
}
