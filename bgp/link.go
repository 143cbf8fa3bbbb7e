package bgp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/osrg/gobgp/v4/api"
)

// linkTimeout bounds GoBGP's part in the start of a session, which takes
// milliseconds.
const linkTimeout = 2 * time.Second

// link is one session's connection to GoBGP. Each has a loopback address that
// was not used before, so GoBGP starts a fresh state machine without its idle
// hold time, and no late event can be taken for a new session's.
type link struct {
	core *core
	addr netip.Addr
	conn *net.TCPConn
	port atomic.Uint32 // of conn, on our side
}

// connect makes GoBGP expect a session with p and opens the loopback
// connection for it. event is called for every change of state until retire,
// and must not block.
func (c *core) connect(ctx context.Context, p Peer, event func(coreEvent)) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	l := &link{core: c}
	ready := make(chan struct{}, 1)
	l.addr = c.claim(func(e coreEvent) {
		switch {
		case e.state == Connect:
			select {
			case ready <- struct{}{}:
			default:
			}
		case e.state == Established && uint32(e.port) != l.port.Load():
			return // somebody else on this box plays the router
		}
		event(e)
	})
	err := c.srv.AddPeer(ctx, &api.AddPeerRequest{Peer: neighbour(p, l.addr)})
	if err != nil {
		c.release(l.addr)
		return nil, fmt.Errorf("failed to add neighbour %s: %w", p.Address, err)
	}
	// A connection that comes before GoBGP waits for it is closed, and costs
	// an idle hold time.
	select {
	case <-ready:
	case <-ctx.Done():
		l.retire()
		return nil, errors.New("failed to start a BGP session: the server does not answer")
	}
	if err := l.dial(ctx); err != nil {
		l.retire()
		return nil, err
	}
	return l, nil
}

// dial opens the loopback connection.
func (l *link) dial(ctx context.Context) error {
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(l.addr, 0)), KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp4", l.core.at.String())
	if err != nil {
		return fmt.Errorf("failed to reach the BGP server on loopback (is lo up?): %w", err)
	}
	l.conn = conn.(*net.TCPConn)
	l.port.Store(uint32(conn.LocalAddr().(*net.TCPAddr).Port))
	return nil
}

// permit sets the terms on which routes go to this neighbour.
func (l *link) permit(t terms) error {
	c := l.core
	c.mu.Lock()
	defer c.mu.Unlock()
	c.terms[l.addr] = t
	if err := c.srv.SetPolicies(context.Background(), policies(c.terms)); err != nil {
		return fmt.Errorf("failed to set BGP policies: %w", err)
	}
	return nil
}

// refresh sends the routes anew after permit has changed the terms of an
// established session.
func (l *link) refresh() error {
	err := l.core.srv.ResetPeer(context.Background(), &api.ResetPeerRequest{
		Address: l.addr.String(), Soft: true,
		Direction: api.ResetPeerRequest_DIRECTION_OUT,
	})
	if err != nil {
		return fmt.Errorf("failed to send routes anew: %w", err)
	}
	return nil
}

// retire makes GoBGP forget the neighbour, which closes its side of the
// connection. It may be called once only.
func (l *link) retire() {
	l.core.release(l.addr)
	// An error means that the server has stopped, which is as good.
	_ = l.core.srv.DeletePeer(context.Background(), &api.DeletePeerRequest{Address: l.addr.String()})
}

// claim gives out the next loopback address, with a sink for its events. They
// come back after 65,000 sessions.
func (c *core) claim(sink func(coreEvent)) netip.Addr {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.at.Addr().As4()
	for {
		c.last++
		b[2], b[3] = byte(c.last>>8), byte(c.last)
		addr := netip.AddrFrom4(b)
		if _, used := c.links[addr]; used || addr == c.at.Addr() || b[3] == 0 {
			continue
		}
		c.links[addr] = sink
		return addr
	}
}

// release forgets a loopback address and what was permitted for it. GoBGP's
// policies follow with the next permit; until then they match nobody.
func (c *core) release(addr netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.links, addr)
	delete(c.terms, addr)
}
