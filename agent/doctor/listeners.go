package doctor

import (
	"fmt"
	"net/netip"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/probe/dnsx"
)

// Transports of a DNS server that a check may ask, and clients do.
var transports = map[bool]string{false: "udp", true: "tcp"}

// listeners looks at who answers on the service addresses: the resolver must
// listen there, or everywhere, and must be the one that the checks ask.
func listeners(b *Box) []Finding {
	var found []Finding
	for i, s := range b.Config.Services {
		c, ok := agent.PathCheck(s)
		if !ok {
			continue
		}
		if b.Sockets.Err != nil {
			return unread(b.Sockets.Err, "the resolver must listen on the service addresses")
		}
		found = append(found, b.nameless(c.DNS.Server.Addr.Port())...)
		for _, tcp := range []bool{false, true} {
			for _, p := range s.Addresses {
				found = append(found, b.listens(i, netip.AddrPortFrom(p.Addr(), c.DNS.Server.Addr.Port()), c.DNS.Server, tcp)...)
			}
		}
	}
	return found
}

// nameless tells of a port of which it is not known whose it is.
func (b *Box) nameless(port uint16) []Finding {
	for _, s := range b.Sockets.Value {
		if s.Local.Port() == port && s.PID == 0 {
			return unread(fmt.Errorf("the owner of port %d is not known: %s", port, s),
				"clients may reach another server than the checks")
		}
	}
	return nil
}

// listens looks at one service address and transport. What has no socket in this
// network namespace at all (a container's server) is not judged.
func (b *Box) listens(i int, at netip.AddrPort, server dnsx.Server, tcp bool) []Finding {
	asked, there := b.at(server.Addr, tcp)
	if !there {
		return nil
	}
	words := fmt.Sprintf("%s %s", transports[tcp], at)
	answers, ok := b.at(at, tcp)
	switch {
	case !ok:
		severity, bad := b.deaf(i, at.Addr(), asked.Process)
		if !bad {
			return nil
		}
		return []Finding{{Severity: severity,
			Seen:   fmt.Sprintf("nobody listens on %s; the checks are answered by %s", words, asked),
			Why:    "clients ask the service address, and the node does not come up while it is silent there",
			WayOut: "let the resolver listen on all addresses (unbound: interface: 0.0.0.0 and ::, interface-automatic: yes), or on the service address before it exists (unbound: ip-freebind: yes; Knot: freebind), or as it comes (dnsmasq: bind-dynamic)"}}
	case answers.Process != asked.Process:
		return []Finding{{Severity: Warning,
			Seen:   fmt.Sprintf("%s is %s, while the checks ask %s", words, answers, asked),
			Why:    "the checks tell nothing of the server that clients reach",
			WayOut: "let one of the two leave the port, or point the checks at the other"}}
	}
	return nil
}

// deaf is how bad it is that a server does not listen on an address, if at all:
// while that is not on the link, some only wait for it to come.
func (b *Box) deaf(i int, a netip.Addr, server string) (s Severity, bad bool) {
	l := b.Links[i].Value
	for _, p := range l.Present {
		if p.Addr() == a && l.Up {
			return Error, true
		}
	}
	switch server {
	case "named":
		return 0, false
	case "dnsmasq", "pihole-FTL": // with bind-dynamic, not with bind-interfaces
		return Note, true
	}
	return Warning, true
}

// at finds the socket that gets what is sent to an address, which is that of
// the address itself before one of all addresses. An IPv6 socket of all
// addresses takes IPv4 as well, by default.
func (b *Box) at(a netip.AddrPort, tcp bool) (Socket, bool) {
	var best Socket
	rank := 0
	for _, s := range b.Sockets.Value {
		if s.TCP != tcp || s.Local.Port() != a.Port() {
			continue
		}
		if r := closeness(s.Local.Addr(), a.Addr()); r > rank {
			best, rank = s, r
		}
	}
	return best, rank > 0
}

// closeness ranks a socket's address for packets to another; 0: it gets none.
func closeness(socket, to netip.Addr) int {
	switch {
	case socket == to:
		return 3
	case socket.IsUnspecified() && socket.Is4() == to.Is4():
		return 2
	case socket.IsUnspecified() && socket.Is6():
		return 1
	}
	return 0
}

// tripwires looks at whether the kernel tells of the end of the servers'
// sockets.
func tripwires(b *Box) []Finding {
	var found []Finding
	for i, c := range kernelWires(b.Config) {
		seen := fmt.Sprintf("service %s, check %s: tripwire: kernel: ", c.service, c.check.Name)
		if err := b.Wires[i]; err != nil {
			found = append(found, Finding{Severity: Warning, Seen: seen + err.Error(),
				Why:    "a killed resolver is found by the next probe, up to an interval later",
				WayOut: "the message names it; or tripwire: tcp"})
			continue
		}
		at, there := b.at(c.server, c.tcp)
		if b.Sockets.Err != nil || there && at.Process != "docker-proxy" || !there && b.refused(c) {
			continue
		}
		found = append(found, Finding{Severity: Warning,
			Seen: seen + or(map[bool]string{true: at.String()}[there],
				fmt.Sprintf("%s has no socket in this network namespace", c.server)),
			Why:    "the server runs elsewhere (a container), so the kernel does not tell here when it ends",
			WayOut: "tripwire: tcp"})
	}
	return found
}

// refused tells whether a check found nobody: that is a finding of its own.
func (b *Box) refused(c wired) bool {
	for _, a := range b.Asked.Value {
		if a.Service == c.service && a.Check == c.check.Name {
			return !a.passed()
		}
	}
	return b.Asked.Err != nil
}

// wired is a check that a tripwire of the kernel's watches.
type wired struct {
	service string
	check   config.Check
	server  netip.AddrPort
	tcp     bool
}

// kernelWires are the checks with such a tripwire, in a fixed order.
func kernelWires(c *config.Config) []wired {
	var all []wired
	for _, s := range c.Services {
		for _, check := range s.Checks {
			server, ok := agent.Watched(check)
			if !ok || check.Tripwire != config.TripwireKernel {
				continue
			}
			udp := check.DNS != nil && check.DNS.Server.Net == "udp"
			all = append(all, wired{s.Name, check, server, !udp})
		}
	}
	return all
}
