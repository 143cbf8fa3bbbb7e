package topology

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// relayResolver is where the router's own resolver serves the relay.
const relayResolver = "127.0.0.1:5353"

// RelaySettings say how the relay is set, for a report.
var RelaySettings = []string{
	"relay: dnsdist on the router, firstAvailable over the nodes in order, the router's own unbound last",
	"relay: each server asked for a random name of .lan every 1 s, 1 s timeout, out after one failure and back after one pass",
	"relay: UDP timeout 2 s; cache of 10,000 answers, stale ones with TTL 30 s once every server is down; they name the node that filled the cache",
}

// Relay is dnsdist on the router.
type Relay struct {
	*Process
	Address netip.Addr // that the clients are given
}

// raiseRelay describes the relay and the router's own resolver behind it.
func (l *Lab) raiseRelay() error {
	if err := l.serveOnRouter("  interface: 127.0.0.1@5353\n"); err != nil {
		return err
	}
	h, s := l.Router, l.options.clientNet()
	l.Relay = &Relay{Address: s.v4(h.Number)}
	l.Relay.Process = h.Add("dnsdist", func() []string {
		return []string{tool("dnsdist"), "--supervised", "--disable-syslog", "-C", h.Path("dnsdist.conf")}
	})
	h.services = append(h.services, l.Relay.Process)
	return h.WriteFile("dnsdist.conf", relayConfig(l.Nodes, s.v4(h.Number), s.v6(h.Number)))
}

// relayConfig is dnsdist's configuration: the nodes in order, the router's own
// resolver last, each checked once a second with a real lookup of a name that
// nobody has cached, and a cache that answers with what is stale once every
// server is down. One failed check takes a server out, one good one takes it
// back: its fastest setting, and its default but for mustResolve.
func relayConfig(nodes []*Node, listen ...netip.Addr) string {
	var b strings.Builder
	for i, a := range listen {
		call := "addLocal"
		if i == 0 {
			call = "setLocal"
		}
		fmt.Fprintf(&b, "%s(%q)\n", call, netip.AddrPortFrom(a, dnsPort))
	}
	b.WriteString(`setACL({"0.0.0.0/0", "::/0"})
setServerPolicy(firstAvailable)
setUDPTimeout(2)
setStaleCacheEntriesTTL(3600)
getPool(""):setCache(newPacketCache(10000, {maxTTL=86400, minTTL=0, staleTTL=30, temporaryFailureTTL=0}))
math.randomseed(os.time())
function freshName(qname, qtype, qclass, dh)
  return newDNSName(string.format("%08x.lan.", math.random(0, 2147483647))), DNSQType.A, qclass
end
function server(name, address, order)
  newServer({name=name, address=address, order=order, checkFunction=freshName,
    checkInterval=1, checkTimeout=1000, maxCheckFailures=1, rise=1})
end
`)
	for i, n := range nodes {
		fmt.Fprintf(&b, "server(%q, %q, %d)\n", n.ShortName, netip.AddrPortFrom(n.V4, dnsPort), i+1)
	}
	fmt.Fprintf(&b, "server(\"router\", %q, %d)\n", relayResolver, len(nodes)+1)
	return b.String()
}

// WaitRelay waits until the relay passes what nobody has cached to that node.
func (l *Lab) WaitRelay(ctx context.Context, n *Node) error {
	return l.Relay.ready(ctx, "the relay ask "+n.ShortName, func() (bool, string) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		name := fmt.Sprintf("%x.fresh.internet.example.", time.Now().UnixNano())
		m, err := l.Client.Ask(ctx, l.Relay.Address, name, dns.TypeA)
		if err != nil {
			return false, err.Error()
		}
		who := answeredBy(m)
		return m.Rcode == dns.RcodeSuccess && who == n.ShortName, dns.RcodeToString[m.Rcode] + " by " + who
	})
}
