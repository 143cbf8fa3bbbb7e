package topology

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// unboundConfig is a host's resolver: cache and recursion to the authority
// only. listen are the lines that say where it listens. infra-host-ttl makes it
// forget at once that the authority did not answer; else its own back-off (15
// minutes by default) outlives every fault. With the usual 10 connections it
// would cut those that clients keep as soon as half of them are in use. NSID
// names the host in every answer (RFC 5001).
func unboundConfig(h *Host, listen, extra string) string {
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
  incoming-num-tcp: 100
  port: %d
%s  access-control: 0.0.0.0/0 allow
  access-control: ::/0 allow
  module-config: "iterator"
  infra-host-ttl: 1
  identity: %q
  nsid: %q
`, h.Dir, dnsPort, listen, h.ShortName, "ascii_"+h.ShortName)
	for line := range strings.Lines(extra) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	fmt.Fprintf(&b, "remote-control:\n  control-enable: yes\n  control-interface: %q\n", h.Path("unbound.sock"))
	stub(&b, ".", internetHost)
	stub(&b, "lan.", lanHost)
	return b.String()
}

// unbound writes a resolver's configuration on the host and describes it.
func (h *Host) unbound(listen, extra string) (*Process, error) {
	p := h.Add("unbound", func() []string {
		return []string{tool("unbound"), "-d", "-p", "-c", h.Path("unbound.conf")}
	})
	return p, h.WriteFile("unbound.conf", unboundConfig(h, listen, extra))
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
