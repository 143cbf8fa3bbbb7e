package agent

import (
	"context"
	"net/netip"

	"recuse/agent/config"
	"recuse/probe/tripwire"
)

// tripEvent tells that a socket of a check's server is gone.
type tripEvent struct{ service *service }

// apply makes every check of the service look at once: what one server lost may
// be what the others stand on.
func (e tripEvent) apply(*loop) { e.service.suspect() }

// Watched is the server whose sockets a check's tripwire watches; not every
// check has one.
func Watched(c config.Check) (netip.AddrPort, bool) {
	switch {
	case c.Tripwire == config.TripwireNone:
		return netip.AddrPort{}, false
	case c.Kind == config.CheckDNS:
		return c.DNS.Server.Addr, true
	case c.Kind == config.CheckTCP:
		return c.TCP.Address, true
	}
	return netip.AddrPort{}, false
}

// watchServer runs the check's tripwire until ctx ends. Where there can be none
// the agent says so, once, and polls.
func (s *service) watchServer(ctx context.Context, l *loop, c config.Check) {
	server, ok := Watched(c)
	if !ok {
		return
	}
	trip := func() { l.send(tripEvent{s}) }
	var err error
	if c.Tripwire == config.TripwireTCP {
		err = tripwire.NewLine(server).Run(ctx, trip)
	} else {
		var w *tripwire.Wire
		if w, err = tripwire.Open(server); err == nil {
			err = w.Run(ctx, trip)
		}
	}
	if err != nil {
		l.noTripwire.Do(func() {
			l.log.Warn("no tripwire: a resolver that dies is noticed by the "+
				"next probe", "error", err)
		})
	}
}
