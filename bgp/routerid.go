package bgp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// routerIDEvery is how often a missing router-id is looked for again.
const routerIDEvery = 500 * time.Millisecond

// errNoRouterID says that nothing on the box gives an identifier.
var errNoRouterID = errors.New("no IPv4 address to take the router-id from (yet): set bgp.router_id")

// waitRouterID returns the configured identifier, or the one of the box as
// soon as it has one. conf returns the configuration in force, tell is called
// with each new reason to wait.
func waitRouterID(ctx context.Context, conf func() Config, tell func(error)) (netip.Addr, error) {
	look := time.NewTicker(routerIDEvery)
	defer look.Stop()
	var told string
	for {
		id, err := conf().findRouterID()
		if err == nil {
			return id, nil
		}
		if err.Error() != told {
			told = err.Error()
			tell(err)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return netip.Addr{}, ctx.Err()
		}
	}
}

// findRouterID returns the configured identifier, or the local IPv4 address
// towards the first IPv4 peer; if all are IPv6, the first IPv4 address of the box. Host addresses (/32) are
// passed over there: one may be a service's that an earlier run left behind,
// the same on every node.
func (c Config) findRouterID() (netip.Addr, error) {
	if c.RouterID.IsValid() {
		return c.RouterID, nil
	}
	for _, p := range c.Peers {
		if p.Address.Is4() {
			return localTowards(p)
		}
	}
	links, err := net.Interfaces()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("failed to list interfaces: %w", err)
	}
	for _, l := range links {
		if id, ok := identifier(l); ok {
			return id, nil
		}
	}
	return netip.Addr{}, errNoRouterID
}

// localTowards returns the address that a connection to p starts at.
func localTowards(p Peer) (netip.Addr, error) {
	if p.LocalAddress.IsValid() {
		return p.LocalAddress, nil
	}
	// Connecting a UDP socket sends nothing and makes the kernel choose.
	conn, err := net.Dial("udp4", netip.AddrPortFrom(p.Address, p.Port).String())
	if err != nil {
		return netip.Addr{}, fmt.Errorf("no local IPv4 address towards %s to take the router-id from (yet): the uplink may be down, or set bgp.router_id", p.Address)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// identifier returns the first IPv4 address of l that is fit to identify the
// box.
func identifier(l net.Interface) (netip.Addr, bool) {
	prefixes, err := l.Addrs()
	if err != nil {
		return netip.Addr{}, false
	}
	for _, p := range prefixes {
		n, ok := p.(*net.IPNet)
		if !ok {
			continue
		}
		a, ok := netip.AddrFromSlice(n.IP)
		a = a.Unmap()
		if ones, _ := n.Mask.Size(); ok && a.Is4() && a.IsGlobalUnicast() && ones < 32 {
			return a, true
		}
	}
	return netip.Addr{}, false
}
