package topology

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recuse/lab/authority"
)

// dnsPort is where all of the lab's DNS servers listen.
const dnsPort = 53

// Authority is the host that serves the root and the internet zone on one
// address and the home zone on another, so that a node can lose one of them.
type Authority struct {
	*Host
	*Process
	client authority.Client
}

// newAuthority makes the host's process.
func newAuthority(h *Host, command []string) *Authority {
	a := &Authority{Host: h, client: authority.Client{Socket: h.Path("control.sock")}}
	a.Process = h.Add("authority", func() []string {
		var listen []string
		for _, host := range []int{internetHost, lanHost} {
			for _, p := range wideNet.addresses(host) {
				listen = append(listen, netip.AddrPortFrom(p.Addr(), dnsPort).String())
			}
		}
		return append(command[:len(command):len(command)],
			"-listen", strings.Join(listen, ","), "-control", a.client.Socket)
	})
	return a
}

// Addresses are the IPv4 addresses at which it serves the internet's zones and
// the home's. Either address answers for both.
func (a *Authority) Addresses() (internet, home netip.Addr) {
	return wideNet.v4(internetHost), wideNet.v4(lanHost)
}

// start starts the authority and waits until it serves.
func (a *Authority) start(ctx context.Context) error {
	if err := a.Process.Start(); err != nil {
		return err
	}
	return a.ready(ctx, "the authority serve", func() (bool, string) {
		_, err := a.Zones(ctx)
		return err == nil, fmt.Sprint(err)
	})
}

// SetDelay makes every answer of the zone late, failures included.
func (a *Authority) SetDelay(ctx context.Context, zone string, d time.Duration) error {
	zones, err := a.Zones(ctx)
	if err != nil {
		return err
	}
	return a.client.Set(ctx, zone, authority.Behaviour{Delay: d, Failure: zones[zone].Failure})
}

// SetFailure makes the zone fail, or answer again.
func (a *Authority) SetFailure(ctx context.Context, zone string, f authority.Failure) error {
	zones, err := a.Zones(ctx)
	if err != nil {
		return err
	}
	return a.client.Set(ctx, zone, authority.Behaviour{Delay: zones[zone].Delay, Failure: f})
}

// SetAll is how the zone treats all resolvers that have no treatment of their
// own.
func (a *Authority) SetAll(ctx context.Context, zone string, b authority.Behaviour) error {
	return a.client.Set(ctx, zone, b)
}

// SetFor is how the zone treats the resolvers of these nodes alone, until they
// are given the zero Behaviour.
func (a *Authority) SetFor(ctx context.Context, zone string, b authority.Behaviour, nodes ...*Node) error {
	var clients []netip.Addr
	for _, n := range nodes {
		clients = append(clients, n.outside(), n.V6)
	}
	if len(clients) == 0 {
		return errors.New("failed to set behaviour: towards no node")
	}
	return a.client.Set(ctx, zone, b, clients...)
}

// Zones returns how every zone behaves and what it has been asked.
func (a *Authority) Zones(ctx context.Context) (map[string]authority.Zone, error) {
	return a.client.Zones(ctx)
}
