package routers

import "fmt"

// beside is what a Linux router needs next to its daemons, as lines of text with
// commands in them, indented, that can be pasted into a shell, and again.
//
// Two things break on one LAN. The router's ICMP redirect pins a client to one
// node for minutes; send_redirects counts for an interface if either its own or
// that of "all" is set, and IPv6 has no such setting, so the packets are
// dropped. A firewall sees the clients' half of each connection only: it knows
// no TCP connection of them as established and drops it as invalid.
func beside(p plan) []string {
	lines := []string{
		" Flows spread over the nodes only if ports count, else each client is one flow:",
		"  sysctl -w net.ipv4.fib_multipath_hash_policy=1",
		"  sysctl -w net.ipv6.fib_multipath_hash_policy=1",
		" With clients and nodes on one LAN, a redirect would pin a client to a node, and",
		" a firewall that tracks connections would see half of each and drop TCP. So send",
		" no redirects and track nothing of the service. A forward chain that drops by",
		" default must accept \"ct state untracked\" too. With destination NAT as a last",
		" resort say \"fib daddr oif exists notrack\", so that what no node takes is tracked.",
		"  nft add table inet recuse",
		"  nft add chain inet recuse pre '{ type filter hook prerouting priority raw; }'",
		"  nft add chain inet recuse out '{ type filter hook output priority 0; }'",
		"  nft flush table inet recuse",
		"  nft add rule inet recuse out icmp type redirect drop",
		"  nft add rule inet recuse out icmpv6 type nd-redirect drop",
	}
	for _, a := range p.All4() {
		lines = append(lines, untracked("ip", a)...)
	}
	for _, a := range p.All6() {
		lines = append(lines, untracked("ip6", a)...)
	}
	return lines
}

// untracked are the commands that exempt one prefix, there and back.
func untracked(family string, prefix fmt.Stringer) []string {
	var lines []string
	for _, end := range []string{"daddr", "saddr"} {
		lines = append(lines, fmt.Sprintf("  nft add rule inet recuse pre %s %s %s notrack", family, end, prefix))
	}
	return lines
}
