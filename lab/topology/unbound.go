package topology

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// unboundConfig is a node's resolver: cache and recursion to the authority
// only. infra-host-ttl makes it forget at once that the authority did not
// answer; else its own back-off (15 minutes by default) outlives every fault.
// NSID names the node in every answer (RFC 5001).
func unboundConfig(n *Node, o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, `server:
  directory: %q
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  logfile: ""
  do-daemonize: no
  verbosity: 1
  num-threads: 1
  outgoing-range: 512
  port: %d
%s  access-control: 0.0.0.0/0 allow
  access-control: ::/0 allow
  module-config: "iterator"
  infra-host-ttl: 1
  identity: %q
  nsid: %q
`, n.Dir, dnsPort, listenLines(o.ResolverListen), n.ShortName, "ascii_"+n.ShortName)
	for line := range strings.Lines(o.ResolverExtra) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	fmt.Fprintf(&b, "remote-control:\n  control-enable: yes\n  control-interface: %q\n", n.Path("unbound.sock"))
	stub(&b, ".", internetHost)
	stub(&b, "lan.", lanHost)
	return b.String()
}

// listenLines makes unbound listen everywhere and answer from the address that
// was asked, also one that comes later; or on the given addresses, whether they
// exist yet or not.
func listenLines(addresses []netip.Addr) string {
	if len(addresses) == 0 {
		return "  interface: 0.0.0.0\n  interface: ::0\n  interface-automatic: yes\n"
	}
	var b strings.Builder
	b.WriteString("  ip-freebind: yes\n")
	for _, a := range addresses {
		fmt.Fprintf(&b, "  interface: %s\n", a)
	}
	return b.String()
}

// stub sends a zone to the authority's address with that host number.
func stub(b *strings.Builder, zone string, host int) {
	fmt.Fprintf(b, "stub-zone:\n  name: %q\n  stub-prime: no\n", zone)
	for _, p := range wideNet.addresses(host) {
		fmt.Fprintf(b, "  stub-addr: %s\n", p.Addr())
	}
}

// WaitResolver waits until the node's resolver answers a name of the home zone
// on the node's own address: it listens and its way to the authority works.
func (n *Node) WaitResolver(ctx context.Context) error {
	return n.Resolver.ready(ctx, "the resolver of "+n.ShortName+" answer", func() (bool, string) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		m, err := n.Ask(ctx, n.askAt, "router.lan.", dns.TypeA)
		if err != nil {
			return false, err.Error()
		}
		return m.Rcode == dns.RcodeSuccess, dns.RcodeToString[m.Rcode]
	})
}
