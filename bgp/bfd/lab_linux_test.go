package bfd

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A lab is the network of a test. We are in the namespace of this process. The
// peer is a namespace on a link of ours, 192.0.2.0/24, and also two hops away
// by a router, a third namespace, between 198.51.100.0/24 and 203.0.113.0/24;
// with IPv6 everywhere.
//
//	ours us0 ----------------- peer0 peer
//	ours us1 --- r0 router r1 - peer1 peer
type lab struct {
	t            testing.TB
	peer, router string // names of namespaces
	engine       *Engine
}

// labs counts the labs of this process, for the names of namespaces.
var labs atomic.Int32

// A way is one of the ways between the ends, which each make a session.
type way struct {
	name     string
	our, his netip.Addr
	ours     string // our interface, for those bound to one
	his0     string // his interface
	multihop bool
}

// The ways of every lab.
var ways = []way{
	{"v4", addr("192.0.2.1"), addr("192.0.2.2"), "", "peer0", false},
	{"v6", addr("2001:db8:1::1"), addr("2001:db8:1::2"), "", "peer0", false},
	{"link-local", addr("fe80::1"), addr("fe80::2"), "us0", "peer0", false},
	{"v4 multihop", addr("198.51.100.1"), addr("203.0.113.2"), "", "", true},
	{"v6 multihop", addr("2001:db8:2::1"), addr("2001:db8:3::2"), "", "", true},
}

// addr parses an address that is known to be good.
func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// newLab builds a lab with an engine, and removes it after the test.
func newLab(t testing.TB) *lab {
	t.Helper()
	n := labs.Add(1)
	prefix := namespacePrefix(os.Getpid())
	l := &lab{t: t, peer: fmt.Sprintf("%sp%d", prefix, n), router: fmt.Sprintf("%sr%d", prefix, n)}
	t.Cleanup(func() {
		removeNamespace(l.peer)
		removeNamespace(l.router)
		// Our ends of the links go with the others, but later.
		exec.Command("ip", "link", "delete", "us0").Run()
		exec.Command("ip", "link", "delete", "us1").Run()
	})
	l.build()
	l.engine = New(Options{})
	t.Cleanup(l.engine.Close)
	return l
}

// build makes the namespaces, links, addresses and routes.
func (l *lab) build() {
	l.t.Helper()
	for _, ns := range []string{l.peer, l.router} {
		l.run("ip netns add " + ns)
		l.run("ip -n " + ns + " link set lo up")
		l.run("ip netns exec " + ns + " sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv6.conf.default.accept_dad=0")
	}
	l.run("ip link set lo up")
	l.run("ip link add us0 type veth peer name peer0 netns " + l.peer)
	l.run("ip link add us1 type veth peer name r0 netns " + l.router)
	l.run("ip -n " + l.router + " link add r1 type veth peer name peer1 netns " + l.peer)
	for _, a := range []struct{ ns, dev, addrs string }{
		{"", "us0", "192.0.2.1/24 2001:db8:1::1/64 fe80::1/64"},
		{"", "us1", "198.51.100.1/24 2001:db8:2::1/64 fe80::1/64"},
		{l.router, "r0", "198.51.100.254/24 2001:db8:2::fe/64 fe80::fe/64"},
		{l.router, "r1", "203.0.113.254/24 2001:db8:3::fe/64 fe80::fe/64"},
		{l.peer, "peer0", "192.0.2.2/24 2001:db8:1::2/64 fe80::2/64"},
		{l.peer, "peer1", "203.0.113.2/24 2001:db8:3::2/64 fe80::2/64"},
	} {
		l.addresses(a.ns, a.dev, a.addrs)
	}
	l.run("ip route add 203.0.113.0/24 via 198.51.100.254")
	l.run("ip route add 2001:db8:3::/64 via 2001:db8:2::fe")
	l.run("ip -n " + l.peer + " route add 198.51.100.0/24 via 203.0.113.254")
	l.run("ip -n " + l.peer + " route add 2001:db8:2::/64 via 2001:db8:3::fe")
}

// addresses sets a link up and gives it addresses, which count at once.
func (l *lab) addresses(ns, dev, addrs string) {
	l.t.Helper()
	l.run("ip " + in(ns) + "link set " + dev + " addrgenmode none up")
	for _, a := range strings.Fields(addrs) {
		nodad := ""
		if strings.Contains(a, ":") {
			nodad = " nodad"
		}
		l.run("ip " + in(ns) + "address add " + a + " dev " + dev + nodad)
	}
}

// in returns the option that makes ip work in a namespace, "" for ours.
func in(ns string) string {
	if ns == "" {
		return ""
	}
	return "-n " + ns + " "
}

// run runs a command of words without spaces and returns its output.
func (l *lab) run(command string) string {
	l.t.Helper()
	f := strings.Fields(command)
	out, err := exec.Command(f[0], f[1:]...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// nft replaces the firewall of the peer's namespace by rules: lines of one
// chain each, such as "input udp dport 3784 drop". None lets all through.
func (l *lab) nft(rules ...string) {
	l.t.Helper()
	script := "flush ruleset\ntable inet t {\n"
	for _, hook := range []string{"input", "output"} {
		script += "chain " + hook + " { type filter hook " + hook + " priority 0;\n"
		for _, r := range rules {
			if rest, ok := strings.CutPrefix(r, hook+" "); ok {
				script += rest + "\n"
			}
		}
		script += "}\n"
	}
	cmd := exec.Command("ip", "netns", "exec", l.peer, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(script + "}\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("nft: %v\n%s", err, out)
	}
}

// eventually fails the test unless ok soon holds. It returns how long that
// took. The status of a failure is made by describe.
func (l *lab) eventually(what string, limit time.Duration, ok func() bool, describe func() string) time.Duration {
	l.t.Helper()
	begin := time.Now()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Since(begin) > limit {
			l.t.Fatalf("not within %v: %s\n%s", limit, what, describe())
		}
		<-tick.C
	}
	return time.Since(begin)
}
