package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"

	"recuse/agent/config"
	"recuse/netlinkx"
)

// subnets passes on service addresses that other links make reachable.
func subnets(b *Box) []Finding {
	var problems config.Errors
	switch {
	case b.Unfit == nil:
		return nil
	case !errors.As(b.Unfit, &problems):
		return unread(b.Unfit, "a service address inside a connected subnet is reached without a route")
	}
	var found []Finding
	for _, p := range problems {
		found = append(found, Finding{Severity: Error, Seen: p.Path + ": " + p.Value,
			Why: p.Rule, WayOut: "choose another address, or change that link"})
	}
	return found
}

// links looks at the links that are to carry the addresses.
func links(b *Box) []Finding {
	var found []Finding
	for i, s := range b.Config.Services {
		l, made := b.Links[i], s.Link.Kind != config.KindExisting
		at := fmt.Sprintf("services[%d].link: ", i)
		switch {
		case errors.Is(l.Err, netlinkx.ErrForeign):
			found = append(found, Finding{Severity: Error, Seen: at + l.Err.Error(),
				Why:    "the agent never touches a link that it did not make, so it does not start",
				WayOut: "choose another link.name, or ip link delete " + s.Link.Name})
		case l.Err != nil:
			found = append(found, unread(l.Err, "the announcement follows the link")...)
		case !l.Value.Exists && !made:
			found = append(found, Finding{Severity: Error, Seen: at + s.Link.Name + " does not exist",
				Why:    "kind existing leaves it to somebody else to make it",
				WayOut: "make it, or set kind: dummy"})
		case !l.Value.Exists:
			found = append(found, b.canMake(at, s.Link.Kind)...)
		}
	}
	return found
}

// v6Of are a service's IPv6 addresses.
func v6Of(s config.Service) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(s.Addresses), func(p netip.Prefix) bool { return p.Addr().Is4() })
}

// ipv6 looks at whether the links can have IPv6 addresses.
func ipv6(b *Box) []Finding {
	var found []Finding
	for i, s := range b.Config.Services {
		if len(v6Of(s)) == 0 {
			continue
		}
		name := s.Link.Name
		if !b.Links[i].Value.Exists {
			name = "default" // that a new link will have
		}
		v, err := b.sysctl("net/ipv6/conf", name, "disable_ipv6")
		key := "net.ipv6.conf." + strings.ReplaceAll(name, ".", "/") + ".disable_ipv6"
		switch {
		case b.lacksIPv6():
			found = append(found, Finding{Severity: Error, Seen: "/proc/sys/net/ipv6 does not exist",
				Why:    fmt.Sprintf("service %s has IPv6 addresses, and this kernel has no IPv6", s.Name),
				WayOut: "boot without ipv6.disable=1, or leave the IPv6 addresses out"})
		case err != nil:
			found = append(found, unread(err, "IPv6 may be off")...)
		case v == "1":
			found = append(found, Finding{Severity: Error, Seen: key + " = 1",
				Why:    fmt.Sprintf("link %s can have no IPv6 address", s.Link.Name),
				WayOut: "sysctl -w " + key + "=0"})
		}
	}
	return found
}

// lacksIPv6 tells whether the kernel has no IPv6. A /proc that shows nothing of
// the network tells nothing.
func (b *Box) lacksIPv6() bool {
	_, errAny := fs.Stat(b.Files, "proc/sys/net")
	_, err := fs.Stat(b.Files, "proc/sys/net/ipv6")
	return errAny == nil && errors.Is(err, fs.ErrNotExist)
}

// guards looks for the unreachable routes that the running agent keeps.
func guards(b *Box) []Finding {
	if !b.Agent.Up() {
		return nil
	}
	if b.Guards.Err != nil {
		return unread(b.Guards.Err, "the unreachable routes keep a forwarding box from sending clients' packets back")
	}
	var found []Finding
	for _, s := range b.Config.Services {
		for _, p := range v6Of(s) {
			if slices.Contains(b.Guards.Value, p) || !b.Agent.has(p) {
				continue
			}
			found = append(found, Finding{Severity: Warning, Seen: "no unreachable route to " + p.String(),
				Why:    "the running agent keeps one, so something deletes it; with the link down, a forwarding box sends packets back to the router in a loop",
				WayOut: "systemd-networkd: ManageForeignRoutes=no in /etc/systemd/networkd.conf"})
		}
	}
	return found
}

// forwarding looks for boxes that would send packets for a service address back.
// IPv4 stays local on a link that is down, but not once the address is taken off
// a link of somebody else's.
func forwarding(b *Box) []Finding {
	var found []Finding
	v, err := b.sysctl("net/ipv4/ip_forward")
	for i, s := range b.Config.Services {
		off := s.Link.Kind == config.KindExisting && s.Link.WhenOut == config.WhenOutDown
		if !off || len(v6Of(s)) == len(s.Addresses) {
			continue
		}
		if err != nil {
			return unread(err, "a forwarding box sends packets for an address that it has not back to the router")
		}
		if v != "1" {
			continue
		}
		found = append(found, Finding{Severity: Warning,
			Seen:   fmt.Sprintf("net.ipv4.ip_forward = 1, and services[%d].link is existing with when_out: down", i),
			Why:    "leaving takes the address off, and packets that still come go back to the router in a loop",
			WayOut: "kind: dummy, or when_out: keep; or ip route add blackhole ADDRESS/32 metric 4294967295"})
	}
	return found
}
