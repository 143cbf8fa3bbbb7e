package agent

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"recuse/agent/config"
	"recuse/bgp"
)

// retry is the pause after a write to the kernel or to BGP failed.
const retry = time.Second

// established is the state of a BGP session that carries routes.
var established = bgp.Established.String()

// eventQueue is deep enough that no probe ever waits for the loop in practice.
const eventQueue = 256

// speaker is what the loop needs of package bgp.
type speaker interface {
	Set(routes []bgp.Route) error
	Update(c bgp.Config) error
	Peers() []bgp.PeerState
}

// event is something that happened outside of the loop.
type event interface{ apply(l *loop) }

// loop owns the state of all services. Every field belongs to the goroutine
// that runs it; others send events.
type loop struct {
	log      *slog.Logger
	level    *slog.LevelVar // of the log
	conf     *config.Config // in force
	maker    *maker
	services []*service
	speaker  speaker
	about    About

	events chan event
	links  <-chan struct{} // links or addresses changed: look again
	peers  chan struct{}   // a peer's state changed: look again

	connected      finder // nil: not looked for
	boxChanged     bool   // links or addresses did, since conflicts were looked for
	conflictsAfter time.Time

	alarms    alarms
	diary     diary
	keeper    *keeper         // nil: nothing outlives a restart
	peersNow  []bgp.PeerState // as of the last event of a peer
	routes    []bgp.Route     // what the speaker was last given
	routesSet bool
	routesErr error
	setAfter  time.Time // not before, after a failure

	pulse     pulse
	notifier  notifier
	notifyErr bool // a failure to reach the supervisor has been logged

	noTripwire sync.Once // says that there is none

	again       chan *config.Config // a restart was asked for
	stop, hurry bool
	stopped     chan struct{} // closed when every service has left
	ended       chan struct{} // closed when nobody reads events any more
}

// newLoop makes a loop without services.
func newLoop(log *slog.Logger, level *slog.LevelVar, c *config.Config,
	about About) *loop {
	l := &loop{
		log:     log,
		level:   level,
		conf:    c,
		about:   about,
		again:   make(chan *config.Config, 1),
		events:  make(chan event, eventQueue),
		peers:   make(chan struct{}, 1),
		stopped: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	l.maker = newMaker(l)
	return l
}

// send hands an event to the loop, or drops it when the loop has ended.
func (l *loop) send(e event) {
	select {
	case l.events <- e:
	case <-l.ended:
	}
}

// run decides until ctx ends. It goes on after the services have stopped, so
// that status can still be asked.
func (l *loop) run(ctx context.Context) {
	defer close(l.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	l.peersNow = l.speaker.Peers()
	due := time.Now()
	for {
		l.lookForStall(time.Since(due))
		l.prove(time.Now())
		wake := l.reconcile(ctx)
		now := time.Now()
		wake = earliest(wake, l.lookForConflicts(now))
		l.keep(now)
		l.noteStopped()
		due = earliest(wake, now.Add(pulseEvery))
		timer.Reset(max(0, due.Sub(now)))
		select {
		case <-ctx.Done():
			return
		case e := <-l.events:
			e.apply(l)
		case _, ok := <-l.links:
			if !ok {
				l.links = nil
			}
			l.lookAgain()
		case <-l.peers:
			l.peersNow = l.speaker.Peers()
		case <-timer.C:
		}
	}
}

// prove shows the watchdogs, our own and the supervisor's, that this goroutine
// runs.
func (l *loop) prove(now time.Time) {
	l.pulse.beat()
	if err := l.notifier.ping(now); err != nil && !l.notifyErr {
		l.notifyErr = true
		l.log.Warn("watchdog pings fail", "error", err)
	}
}

// lookAgain makes the next reconcile ask the kernel for every link.
func (l *loop) lookAgain() {
	l.boxChanged = true
	for _, s := range l.services {
		s.dirty = true
	}
}

// reconcile decides, announces and moves links until nothing changes any more,
// and returns when it wants to be called again without an event.
//
// The order within a round is fixed: look, decide, tell the routers, touch the
// links. So an UPDATE always leaves before its link is touched.
func (l *loop) reconcile(ctx context.Context) time.Time {
	// A service passes through at most every phase once in a call.
	const rounds = 8
	var wake time.Time
	for range rounds {
		now := time.Now()
		wake = time.Time{}
		moved := false
		for _, s := range l.services {
			s.begin(ctx, l)
			again := earliest(s.ensure(l, now), s.observe(l, now))
			s.followPaths(ctx, l)
			moved = s.decide(l, now) || moved
			wake = earliest(earliest(wake, again), s.orders.Wake)
		}
		wake = earliest(wake, l.announce(now, moved))
		for _, s := range l.services {
			acted, again := s.moveLink(l, now)
			s.settleDrain()
			moved = moved || acted
			wake = earliest(wake, again)
		}
		if !moved {
			break
		}
	}
	return wake
}

// announce gives the speaker the whole set of routes if it changed. It returns
// when to try again after a failure. A change that no decision of this round
// explains, such as that of an address which somebody took off a link, has a
// line of its own in the log.
func (l *loop) announce(now time.Time, explained bool) time.Time {
	var routes []bgp.Route
	for _, s := range l.services {
		routes = append(routes, s.routes()...)
	}
	if l.routesSet && same(routes, l.routes) {
		return time.Time{}
	}
	if now.Before(l.setAfter) {
		return l.setAfter
	}
	if err := l.speaker.Set(routes); err != nil {
		l.setAfter = now.Add(retry)
		if l.routesErr == nil || l.routesErr.Error() != err.Error() {
			l.log.Error("failed to set the routes", "error", err)
		}
		l.routesErr = err
		return l.setAfter
	}
	if l.routesSet && !explained {
		l.log.Warn("routes follow the link", "from", prefixes(l.routes),
			"to", prefixes(routes))
	}
	l.routes, l.routesSet, l.routesErr = routes, true, nil
	return time.Time{}
}

// prefixes are those of the routes.
func prefixes(routes []bgp.Route) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(routes))
	for _, r := range routes {
		list = append(list, r.Prefix)
	}
	return list
}

// same compares two sets of routes, which are always built in the same order.
func same(a, b []bgp.Route) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// earliest is the earlier of two moments, where zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// noteStopped closes stopped once no service has a route or a wait any more.
func (l *loop) noteStopped() {
	if !l.stop || l.stopped == nil {
		return
	}
	for _, s := range l.services {
		if s.state.Phase != Down {
			return
		}
	}
	close(l.stopped)
	l.stopped = nil
}

// stopEvent asks every service to leave; hurry skips the waits.
type stopEvent struct{ hurry bool }

// apply notes the wish; the decision carries it out.
func (e stopEvent) apply(l *loop) {
	l.stop = true
	l.hurry = l.hurry || e.hurry
}

// call runs a function in the loop and waits for it, or for ctx.
func (l *loop) call(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case l.events <- callEvent{f, done}:
	case <-ctx.Done():
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("failed to reach the deciding goroutine, though the "+
			"agent runs: %w", ctx.Err())
	}
}

// callEvent is a question to the loop.
type callEvent struct {
	f    func()
	done chan struct{}
}

// apply answers it.
func (e callEvent) apply(*loop) {
	e.f()
	close(e.done)
}

// heard is what the established peers have sent of other nodes.
func (l *loop) heard() []Heard {
	var list []Heard
	for _, p := range l.peersNow {
		if p.State != established {
			continue
		}
		h := Heard{EndOfRIB: p.EndOfRIB, Marked: p.Marked, Gone: p.Gone,
			Full: map[netip.Prefix][]netip.Addr{}}
		for _, seen := range p.Seen {
			if !seen.Depreferred {
				h.Full[seen.Prefix] = append(h.Full[seen.Prefix], seen.Node)
			}
		}
		list = append(list, h)
	}
	return list
}

// keep hands what must outlive a restart to the keeper.
func (l *loop) keep(now time.Time) {
	if l.keeper == nil {
		return
	}
	m := memory{}
	for _, s := range l.services {
		m[s.conf.Name] = s.remember(now)
	}
	l.keeper.offer(m, now)
}
