package agent

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"recuse/agent/config"
	"recuse/bgp"
)

// harms lists what a reload would cost: routes that are announced now, or a
// BGP session. Everything else is applied under live sessions.
func harms(before, after *config.Config, announced func(service string) bool) []string {
	list := harmsToBGP(before.BGP, after.BGP)
	for _, old := range before.Services {
		i := slices.IndexFunc(after.Services, func(s config.Service) bool {
			return s.Name == old.Name
		})
		if i < 0 {
			if announced(old.Name) {
				list = append(list, fmt.Sprintf(
					"services[%s]: removed while it is announced", old.Name))
			}
			continue
		}
		list = append(list, harmsToService(old, after.Services[i],
			announced(old.Name))...)
	}
	return append(list, takeovers(before.Services, after.Services)...)
}

// takeovers lists what one service has now and another is to have: only an agent
// made anew can give it from the one to the other.
func takeovers(before, after []config.Service) []string {
	var list []string
	for _, now := range after {
		for _, old := range before {
			if old.Name == now.Name {
				continue
			}
			if old.Link.Name == now.Link.Name &&
				(old.Link.Kind != config.KindExisting ||
					now.Link.Kind != config.KindExisting) {
				list = append(list, fmt.Sprintf("services[%s].link: %s is that "+
					"of services[%s]", now.Name, now.Link.Name, old.Name))
			}
			for _, p := range now.Addresses {
				if slices.Contains(old.Addresses, p) {
					list = append(list, fmt.Sprintf("services[%s].addresses: "+
						"%s is that of services[%s]", now.Name, p, old.Name))
				}
			}
		}
	}
	return list
}

// harmsToBGP compares what belongs to the sessions.
func harmsToBGP(before, after bgp.Config) []string {
	var list []string
	if before.ASN != after.ASN {
		list = append(list, fmt.Sprintf("bgp.asn: %d -> %d: every session "+
			"restarts", before.ASN, after.ASN))
	}
	if before.RouterID != after.RouterID {
		list = append(list, "bgp.router_id: changed: every session restarts")
	}
	if before.Listen != after.Listen {
		list = append(list, "bgp.listen: changed: every session restarts")
	}
	for _, old := range before.Peers {
		path := fmt.Sprintf("bgp.peers[%s]", old.Address)
		i := slices.IndexFunc(after.Peers, func(p bgp.Peer) bool {
			return p.Address == old.Address
		})
		switch {
		case i < 0:
			list = append(list, path+": removed")
		case !reflect.DeepEqual(sessionOf(old), sessionOf(after.Peers[i])):
			list = append(list, path+": its session restarts")
		}
	}
	return list
}

// sessionOf is a peer without what can change under a live session.
func sessionOf(p bgp.Peer) bgp.Peer {
	p.BFD = nil
	p.Communities, p.NextHopV4, p.NextHopV6 = nil, netip.Addr{}, netip.Addr{}
	return p
}

// harmsToService compares what belongs to a service's routes and link.
func harmsToService(before, after config.Service, announced bool) []string {
	var list []string
	if before.Link.Name != after.Link.Name || before.Link.Kind != after.Link.Kind {
		list = append(list, fmt.Sprintf("services[%s].link: %s (%s) -> %s (%s)",
			before.Name, before.Link.Name, before.Link.Kind, after.Link.Name,
			after.Link.Kind))
	}
	if !announced {
		return list
	}
	for _, p := range before.Addresses {
		if !slices.Contains(after.Addresses, p) {
			list = append(list, fmt.Sprintf("services[%s].addresses: %s "+
				"removed while it is announced", before.Name, p))
		}
	}
	for _, p := range before.Routes() {
		if !slices.Contains(after.Routes(), p) &&
			!slices.Contains(before.Addresses, p) {
			list = append(list, fmt.Sprintf("services[%s].announce: %s "+
				"removed while it is announced", before.Name, p))
		}
	}
	return list
}

// later lists the changes that this process cannot make.
func later(before, after *config.Config) []string {
	var list []string
	add := func(changed bool, what string) {
		if changed {
			list = append(list, what+" takes effect at the next start")
		}
	}
	add(before.Node != after.Node, "node")
	add(before.StateDir != after.StateDir, "state_dir")
	add(before.Control != after.Control, "control")
	add(before.HTTP != after.HTTP, "http")
	add(before.Log.Format != after.Log.Format, "log.format")
	return list
}
