package doctor

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"recuse/agent/control"
)

// The ports of BFD (RFC 5881, section 4; RFC 5883, section 5).
const (
	portBFD      = 3784
	portMultihop = 4784
)

// bfdPorts looks for another BFD on the box.
func bfdPorts(b *Box) []Finding {
	var ports []uint16
	for _, p := range b.Config.BGP.Peers {
		port := uint16(portBFD)
		if p.Multihop > 1 {
			port = portMultihop
		}
		if p.BFD != nil && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	var found []Finding
	for _, port := range ports {
		found = append(found, b.taken(netip.AddrPortFrom(netip.Addr{}, port), false,
			"only one BFD can run on a box, so the agent's stays down, and a frozen node in the routing for the BGP hold time",
			"stop that one (FRR: bfdd=no in /etc/frr/daemons; BIRD: no protocol bfd), or leave bfd out here")...)
	}
	return found
}

// bgpPort looks for another BGP speaker where the agent is to listen.
func bgpPort(b *Box) []Finding {
	if !b.Config.BGP.Listen.IsValid() {
		return nil
	}
	return b.taken(b.Config.BGP.Listen, true, "the agent cannot listen for its routers and does not start",
		"stop that one, or leave bgp.listen out: the agent dials")
}

// taken finds sockets of others in the place of ours: at the address, or at any
// if there is none.
func (b *Box) taken(at netip.AddrPort, tcp bool, why, out string) []Finding {
	if b.Sockets.Err != nil {
		return unread(b.Sockets.Err, why)
	}
	var owners []string
	severity := Error
	for _, s := range b.Sockets.Value {
		any := !at.Addr().IsValid() || at.Addr().IsUnspecified() || s.Local.Addr().IsUnspecified()
		if s.TCP != tcp || s.Local.Port() != at.Port() || !any && s.Local.Addr() != at.Addr() ||
			s.PID != 0 && s.PID == b.Agent.PID {
			continue
		}
		if !errors.Is(b.Agent.Err, control.ErrNoDaemon) && (s.PID == 0 || b.Agent.PID == 0) {
			severity = Unknown // it may well be the agent's
		}
		owners = append(owners, s.String())
	}
	if len(owners) == 0 {
		return nil
	}
	slices.Sort(owners)
	if severity == Unknown {
		return unread(fmt.Errorf("the owner of a port is not known: %s", strings.Join(slices.Compact(owners), ", ")), why)
	}
	return []Finding{{Severity: Error, Seen: strings.Join(slices.Compact(owners), ", "), Why: why, WayOut: out}}
}
