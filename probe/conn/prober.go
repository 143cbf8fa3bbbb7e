package conn

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"recuse/probe"
)

// Config is a port to connect to.
type Config struct {
	// Address is connected to.
	Address netip.AddrPort
	// Local is the source address; zero leaves it to the kernel.
	Local netip.Addr
}

// Prober connects to the port of one Config. It is safe for concurrent use.
type Prober struct{ config Config }

var _ probe.Prober = (*Prober)(nil)

// New returns a prober for c, or an error that says which rule c breaks.
func New(c Config) (*Prober, error) {
	if !c.Address.IsValid() || c.Address.Port() == 0 {
		return nil, fmt.Errorf("address: %q is not an address with a port", c.Address)
	}
	c.Address = netip.AddrPortFrom(c.Address.Addr().Unmap(), c.Address.Port())
	c.Local = c.Local.Unmap()
	if c.Local.IsValid() && c.Local.Is4() != c.Address.Addr().Is4() {
		return nil, fmt.Errorf("source %v and address %v are not of one address family", c.Local, c.Address)
	}
	return &Prober{config: c}, nil
}

// Probe connects once and closes the connection. It returns by the deadline of
// ctx.
func (p *Prober) Probe(ctx context.Context) probe.Result {
	sent := time.Now()
	var d net.Dialer
	if p.config.Local.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: p.config.Local.AsSlice(), Zone: p.config.Local.Zone()}
	}
	d.SetMultipathTCP(false)
	c, err := d.DialContext(ctx, "tcp", p.config.Address.String())
	if err != nil {
		res, _ := probe.Failure(ctx, err)
		return res.Ended(sent)
	}
	res := probe.Result{Cause: probe.Passed, Outcome: "connected", Alive: true}.Ended(sent)
	// Nothing was written, so there is nothing that closing could lose.
	_ = c.Close()
	return res
}
