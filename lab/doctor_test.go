package lab_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recuse/lab/topology"
)

// diagnosis is what `recuse doctor --json` prints, as far as it is judged.
type diagnosis struct {
	Findings []struct{ Examination, Severity, Seen string }
}

// has tells whether there is a finding like "severity examination: part of what
// was seen".
func (d diagnosis) has(want string) bool {
	for _, f := range d.Findings {
		head, part, _ := strings.Cut(want, ": ")
		if f.Severity+" "+f.Examination == head && strings.Contains(f.Seen, part) {
			return true
		}
	}
	return false
}

// doctor examines a node, and returns what it printed too.
func doctor(t *testing.T, n *topology.Node) (diagnosis, string) {
	t.Helper()
	// The exit status says whether something was found, so it is no failure.
	out, _ := n.Run(t.Context(), recuse(t), "doctor", "--json", "-c", n.Path(topology.ConfigFile))
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("doctor printed no JSON: %v\n%s", err, out)
	}
	return d, out
}

// fault is something that is done to a node, and what is to be found of it.
type fault struct {
	name     string
	do, undo func()
	want     []string
}

// examined does the faults one by one, and sees the node well after each.
func examined(t *testing.T, n *topology.Node, faults []fault) {
	t.Helper()
	for _, f := range faults {
		start := time.Now()
		f.do()
		for _, want := range f.want {
			eventually(t, f.name+": "+want, func() (bool, string) {
				d, out := doctor(t, n)
				return d.has(want), out
			})
		}
		f.undo()
		eventually(t, "well again after "+f.name, func() (bool, string) {
			d, out := doctor(t, n)
			return healthy(d), out
		})
		t.Logf("%s: %v", f.name, time.Since(start).Round(time.Millisecond))
	}
}

// healthy tells whether nothing but notes was found, on a box that may be short
// of time for BFD.
func healthy(d diagnosis) bool {
	for _, f := range d.Findings {
		if f.Severity != "note" && !strings.HasSuffix(f.Seen, "ms late, the router waits 900 ms") {
			return false
		}
	}
	return true
}

// TestDoctor finds nothing wrong on a healthy node, and each fault that is made
// on it: under a running agent on one node, without one on another.
func TestDoctor(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 2, BFD: &topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}},
		func(_ int, c tree) { unhurried(c) })
	serving(t, lab)
	must(t, lab.WaitBFD(t.Context(), patience, lab.Nodes...))
	for _, n := range lab.Nodes {
		eventually(t, "a healthy node", func() (bool, string) {
			d, out := doctor(t, n)
			return healthy(d), out
		})
	}
	t.Run("under an agent", func(t *testing.T) {
		t.Parallel()
		examined(t, lab.Nodes[0], underAgent(t, lab, lab.Nodes[0]))
	})
	t.Run("without one", func(t *testing.T) {
		t.Parallel()
		must(t, lab.Nodes[1].Agent.Finish(t.Context()))
		examined(t, lab.Nodes[1], withoutAgent(t, lab.Nodes[1]))
	})
}

// ip runs ip(8) on a node, a word for each argument.
func ip(t *testing.T, n *topology.Node, line string) func() {
	return func() {
		t.Helper()
		_, err := n.Run(t.Context(), append([]string{"ip"}, strings.Fields(line)...)...)
		must(t, err)
	}
}

// underAgent are the faults of a node that serves.
func underAgent(t *testing.T, lab *topology.Lab, n *topology.Node) []fault {
	inside := netip.MustParsePrefix("10.9.9.1/24")
	stray := "10.99.0.1/24"
	return []fault{
		{"an address that connects the service's", func() { must(t, n.AddAddress("lan0", inside)) },
			func() { must(t, n.DeleteAddress("lan0", inside)) },
			[]string{"error subnet: 10.9.9.53/32"}},
		{"a strict filter and another way out", func() {
			ip(t, n, "route add 10.70.0.0/16 via "+n.Gateways[0].String())()
			ip(t, n, "link add up0 type "+n.LinkKind)()
			ip(t, n, "addr add "+stray+" dev up0")()
			ip(t, n, "link set up0 up")()
			ip(t, n, "route replace default via 10.99.0.2 dev up0")()
			must(t, n.Sysctl("net/ipv4/conf/lan0/rp_filter", "1"))
		}, func() {
			must(t, n.Sysctl("net/ipv4/conf/lan0/rp_filter", "0"))
			ip(t, n, "link del up0")()
			ip(t, n, "route add default via "+n.Gateways[0].String())()
		}, []string{"warning rp-filter: net.ipv4.conf.lan0.rp_filter = 1, while answers leave by up0"}},
		{"rules that drop", func() {
			must(t, n.NFT(t.Context(), "drop.nft", "table inet fault {\nchain input {\ntype filter hook input priority 0\n"+
				"iifname \"lan0\" meta l4proto { tcp, udp } th dport 53 drop\n udp dport 3784 counter drop\n}\n}\n"))
		}, func() { _, err := n.Run(t.Context(), "nft", "delete table inet fault"); must(t, err) },
			[]string{"error firewall: queries to 10.9.9.53:53 (udp)", "error firewall: queries to [2001:db8:9::53]:53 (tcp)",
				"error firewall: BFD from 10.60.0.1", "error bfd: BFD with 10.60.0.1"}},
		{"a router that strips large communities", func() { marks(t, lab, n, "no ") }, func() { marks(t, lab, n, "") },
			[]string{"warning others: without a node's mark"}},
		{"a resolver that is killed", func() { must(t, n.Resolver.Kill()) }, func() { must(t, n.Resolver.Start()) },
			[]string{"error answer: connection refused", "error service: withdrawn"}},
		{"a router that is down", func() { must(t, lab.Router.Stop()) }, func() { must(t, lab.Router.Start(t.Context())) },
			[]string{"error peer: 10.60.0.1 is CONNECT", "error service: no established peer"}},
	}
}

// marks has the router send large communities to a node, or not.
func marks(t *testing.T, lab *topology.Lab, n *topology.Node, word string) {
	t.Helper()
	_, err := lab.Router.Run(t.Context(), "vtysh", "--vty_socket", lab.Router.Dir, "-c", "configure terminal",
		"-c", fmt.Sprintf("router bgp %d", topology.RouterASN),
		"-c", "address-family ipv4 unicast", "-c", word+"neighbor "+n.V4.String()+" send-community large",
		"-c", "end", "-c", "clear bgp ipv4 unicast "+n.V4.String()+" soft out")
	must(t, err)
}

// name sets what the check asks for, and the zone whose SOA must come with it.
func name(c tree, text, soa string) {
	dns := service(c, 0)["checks"].([]any)[0].(tree)["dns"].(tree)
	dns["name"], dns["soa"] = text, soa
	if soa == "" {
		delete(dns, "soa")
	}
}

// withoutAgent are the faults of a node whose agent has ended.
func withoutAgent(t *testing.T, n *topology.Node) []fault {
	config := n.Path("unbound.conf")
	before, err := os.ReadFile(config)
	must(t, err)
	restart := func(text string) {
		must(t, n.Resolver.Kill())
		must(t, os.WriteFile(config, []byte(text), 0o600))
		must(t, n.Resolver.Start())
		must(t, n.WaitResolver(t.Context()))
	}
	var other *net.UDPConn
	return []fault{
		{"a resolver on loopback only", func() {
			restart(strings.NewReplacer("interface: 0.0.0.0", "interface: 127.0.0.1", "interface: ::0", "interface: ::1",
				"interface-automatic: yes", "").Replace(string(before)))
		}, func() { restart(string(before)) },
			[]string{"warning listener: nobody listens on udp 10.9.9.53:53", "warning listener: nobody listens on tcp [2001:db8:9::53]:53"}},
		{"another BFD", func() {
			other, err = n.ListenUDP(&net.UDPAddr{Port: 3784})
			must(t, err)
		}, func() { must(t, other.Close()) },
			[]string{"error bfd-port: " + filepath.Base(os.Args[0])}},
		{"a link of somebody else's", func() { must(t, n.Hold(topology.AgentLink)) }, func() { must(t, n.DeleteLink(topology.AgentLink)) },
			[]string{"error link: not ours to touch"}},
		{"a kernel that forbids IPv6", func() { must(t, n.Sysctl("net/ipv6/conf/default/disable_ipv6", "1")) },
			func() { must(t, n.Sysctl("net/ipv6/conf/default/disable_ipv6", "0")) },
			[]string{"error ipv6: net.ipv6.conf.default.disable_ipv6 = 1"}},
		{"the internet's word for a local name", func() {
			must(t, n.Reconfigure(func(c tree) { name(c, "{random}.nowhere", "") }))
		}, func() { must(t, n.Reconfigure(func(c tree) { name(c, "{random}.lan", "lan") })) },
			[]string{"warning local-name: NXDOMAIN from zone . instead of nowhere."}},
		{"no route to the router", ip(t, n, "addr del "+n.V4.String()+"/24 dev lan0"), func() {
			ip(t, n, "addr add "+n.V4.String()+"/24 dev lan0")()
			ip(t, n, "route add default via "+n.Gateways[0].String())()
		}, []string{"error route: no route to 10.60.0.1"}},
	}
}
