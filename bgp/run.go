package bgp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// stopTimeout bounds the stop of GoBGP once every session has ended.
const stopTimeout = 3 * time.Second

// Run starts the sessions and keeps them until Close or until ctx is done,
// which ends them like Close without a text. It waits for a router-id as long
// as the box has none. It returns an error only for what waiting does not
// cure, such as a port that is taken. It may be called once.
func (s *Speaker) Run(ctx context.Context) error {
	s.mu.Lock()
	if s.started || s.closed {
		s.mu.Unlock()
		return errClosed
	}
	s.started = true
	s.mu.Unlock()
	defer close(s.done)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	id, err := waitRouterID(ctx, s.config, s.waiting)
	if err != nil {
		return nil // ended while waiting
	}
	if err := s.start(ctx, id); err != nil {
		return err
	}
	s.keep(ctx)
	return s.end()
}

// waiting tells why there is no session yet.
func (s *Speaker) waiting(err error) {
	s.log.Warn("bgp waits", "reason", err)
	for _, p := range s.list() {
		p.mu.Lock()
		p.state.LastError = err.Error()
		p.mu.Unlock()
	}
	s.notify()
}

// start starts GoBGP and gives it the routes.
func (s *Speaker) start(ctx context.Context, id netip.Addr) error {
	asn := s.config().ASN // never changes
	c, err := startCore(ctx, asn, id, s.log)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routerID, s.core = id, c
	s.attrs = attributes{asn: asn, routerID: id, extra: s.extra}
	for _, p := range s.peers {
		s.equip(p)
	}
	s.log.Info("bgp started", "asn", asn, "router_id", id)
	return s.apply()
}

// equip gives a peer what it needs to run. The caller holds mu.
func (s *Speaker) equip(p *peer) {
	p.core, p.self = s.core, node{s.attrs.asn, s.attrs.routerID}
}

// keep runs the peers, and the listener if there is one, until ctx is done.
func (s *Speaker) keep(ctx context.Context) {
	var wg sync.WaitGroup
	s.mu.Lock()
	s.spawn = func(p *peer) {
		var own context.Context
		own, p.cancel = context.WithCancelCause(ctx)
		wg.Go(func() {
			defer p.cancel(nil)
			p.run(own)
		})
	}
	for _, p := range s.peers {
		s.spawn(p)
	}
	if s.cfg.Listen.IsValid() {
		wg.Go(func() { s.keepListening(ctx) })
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.spawn = nil
	s.mu.Unlock()
	wg.Wait()
}

// keepListening listens, and tries again while it cannot: the address may come
// later. Meanwhile we dial.
func (s *Speaker) keepListening(ctx context.Context) {
	again := time.NewTicker(defaultConnectRetry)
	defer again.Stop()
	var told string
	for {
		l, err := s.listen(ctx)
		if err == nil {
			unhook := context.AfterFunc(ctx, func() { _ = l.Close() })
			s.hear(l)
			err = s.accept(l)
			s.hear(nil)
			unhook()
			_ = l.Close()
		}
		if ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			s.log.Warn("bgp does not listen", "reason", err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// hear notes the open port, for changes of keys, one since it was opened
// included.
func (s *Speaker) hear(l *net.TCPListener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = l
	s.rekey(nil, s.cfg.Peers)
}

// end stops GoBGP after the last session.
func (s *Speaker) end() error {
	s.mu.Lock()
	c := s.core
	s.core, s.closed = nil, true
	s.mu.Unlock()
	s.beat.stop()
	if c == nil {
		return errors.New("failed to stop BGP: not started")
	}
	return c.stop(stopTimeout)
}
