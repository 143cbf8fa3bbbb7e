package bgp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"github.com/osrg/gobgp/v4/pkg/apiutil"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
	"github.com/osrg/gobgp/v4/pkg/server"
)

// coreTries bounds the search for a free loopback address and port.
const coreTries = 16

// core is the embedded GoBGP server. It listens on a loopback address of its
// own; every session reaches it from another one (see link).
type core struct {
	srv   *server.BgpServer
	at    netip.AddrPort
	unsee context.CancelFunc

	mu    sync.Mutex
	last  uint16 // of the loopback addresses given to links
	terms map[netip.Addr]terms
	links map[netip.Addr]func(coreEvent)
}

// coreEvent is a change of state of one neighbour inside GoBGP.
type coreEvent struct {
	state State
	port  uint16 // of the loopback connection, on the session's side
}

// startCore starts GoBGP with its policies, and no neighbour yet.
func startCore(ctx context.Context, asn uint32, routerID netip.Addr, log *slog.Logger) (*core, error) {
	level := new(slog.LevelVar)
	c := &core{
		srv:   server.NewBgpServer(server.LoggerOption(slog.New(quiet{log.Handler()}), level)),
		terms: make(map[netip.Addr]terms),
		links: make(map[netip.Addr]func(coreEvent)),
	}
	go c.srv.Serve()
	err := c.listen(ctx, asn, routerID)
	if err == nil {
		err = c.configure(ctx)
	}
	if err != nil {
		c.srv.Stop()
		return nil, err
	}
	return c, nil
}

// listen finds a free loopback address and port. Random ones, so that two
// agents in one network namespace do not meet.
func (c *core) listen(ctx context.Context, asn uint32, routerID netip.Addr) error {
	var err error
	for range coreTries {
		b := [4]byte{127, byte(64 + rand.IntN(190)), byte(rand.IntN(256)), 255}
		c.at = netip.AddrPortFrom(netip.AddrFrom4(b), uint16(20000+rand.IntN(40000)))
		err = c.srv.StartBgp(ctx, &api.StartBgpRequest{Global: &api.Global{
			Asn:             asn,
			RouterId:        routerID.String(),
			ListenPort:      int32(c.at.Port()),
			ListenAddresses: []string{c.at.Addr().String()},
			Families:        []uint32{0, 1}, // IPv4 and IPv6 unicast
		}})
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("failed to start BGP on loopback: %w", err)
}

// configure sets the policies and subscribes to events.
func (c *core) configure(ctx context.Context) error {
	if err := c.srv.SetPolicies(ctx, policies(nil)); err != nil {
		return fmt.Errorf("failed to set BGP policies: %w", err)
	}
	for _, a := range assignments() {
		if err := c.srv.SetPolicyAssignment(ctx, &api.SetPolicyAssignmentRequest{Assignment: a}); err != nil {
			return fmt.Errorf("failed to assign BGP policies: %w", err)
		}
	}
	// The subscription outlives the caller's context and ends with stop.
	watch, unsee := context.WithCancel(context.Background())
	c.unsee = unsee
	see := server.WatchEventMessageCallbacks{OnPeerUpdate: c.see}
	if err := c.srv.WatchEvent(watch, see, server.WatchPeer()); err != nil {
		unsee()
		return fmt.Errorf("failed to watch BGP events: %w", err)
	}
	return nil
}

// see hands an event to the session that it is about.
func (c *core) see(e *apiutil.WatchEventMessage_PeerEvent, _ time.Time) {
	c.mu.Lock()
	f := c.links[e.Peer.State.NeighborAddress]
	c.mu.Unlock()
	if f == nil {
		return
	}
	f(coreEvent{state: coreState(e.Peer.State.SessionState), port: uint16(e.Peer.Transport.RemotePort)})
}

// coreState puts GoBGP's state into ours. Its "active" is waiting for the
// loopback connection.
func coreState(s bgp.FSMState) State {
	switch s {
	case bgp.BGP_FSM_CONNECT, bgp.BGP_FSM_ACTIVE:
		return Connect
	case bgp.BGP_FSM_OPENSENT:
		return OpenSent
	case bgp.BGP_FSM_OPENCONFIRM:
		return OpenConfirm
	case bgp.BGP_FSM_ESTABLISHED:
		return Established
	}
	return Idle
}

// announce adds or replaces one route. A replaced one leaves as an UPDATE
// without a withdrawal.
func (c *core) announce(a attributes, r Route) error {
	p, err := a.path(r)
	if err != nil {
		return err
	}
	if _, err := c.srv.AddPath(apiutil.AddPathRequest{Paths: []*apiutil.Path{p}}); err != nil {
		return fmt.Errorf("failed to announce %s: %w", r.Prefix, err)
	}
	return nil
}

// withdraw takes routes back, all in one go.
func (c *core) withdraw(prefixes []netip.Prefix) error {
	paths := make([]*apiutil.Path, 0, len(prefixes))
	for _, prefix := range prefixes {
		p, err := withdrawal(prefix)
		if err != nil {
			return err
		}
		paths = append(paths, p)
	}
	if err := c.srv.DeletePath(apiutil.DeletePathRequest{Paths: paths}); err != nil {
		return fmt.Errorf("failed to withdraw %v: %w", prefixes, err)
	}
	return nil
}

// stop ends GoBGP. Its own wait knows no context, hence the goroutine; one
// that hangs is left behind and told of.
func (c *core) stop(timeout time.Duration) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.srv.Stop()
		c.unsee()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(timeout):
		return errors.New("failed to stop BGP in time")
	}
}
