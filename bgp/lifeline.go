package bgp

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"recuse/bgp/bfd"
)

const (
	// mendEvery is how often a BFD session that could not be made is tried.
	mendEvery = 2 * time.Second
	// goodbyeBFD bounds the time for which AdminDown is said.
	goodbyeBFD = 5 * time.Second
)

// lifeline is the BFD beside one peer's BGP: no session, one, or two of which
// one is to come up (see strandKinds).
type lifeline struct {
	peer    Peer // whose BFD is not looked at; conf is
	kinds   []bool
	beat    *beat
	log     *slog.Logger
	changed func()           // something is to be shown
	rise    func() bool      // BFD came up; returns whether BGP was first
	fall    func(why string) // BFD was lost

	mu      sync.Mutex
	conf    *BFD
	running bool
	since   time.Time
	risen   bool      // it has been up since it began
	follows bool      // see standing
	barred  bool      // see standing
	strands []*strand // parallel to kinds while conf is not nil
	fault   string    // why a session could not be made
	mender  *time.Timer
}

// strand is one BFD session, or the place of one.
type strand struct {
	multihop bool
	session  *bfd.Session // nil: none now
	state    bfd.State
}

// start begins the sessions.
func (l *lifeline) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = true
	l.begin()
}

// begin makes the sessions that are configured. The caller holds mu.
func (l *lifeline) begin() {
	if !l.running || l.conf == nil {
		return
	}
	l.since, l.strands = time.Now(), nil
	l.risen, l.follows, l.barred = false, false, false
	for _, multihop := range l.kinds {
		l.strands = append(l.strands, &strand{multihop: multihop, state: bfd.Down})
	}
	l.mend()
}

// mend makes the sessions that are missing, unless one is up, which makes the
// other needless. It tries again later if it cannot. The caller holds mu.
func (l *lifeline) mend() {
	if l.up() != nil {
		return
	}
	fault := ""
	for _, s := range l.strands {
		if s.session != nil {
			continue
		}
		session, err := l.beat.get().Add(l.peer.strand(*l.conf, s.multihop), func(e bfd.Event) { l.event(s, e) })
		if err != nil {
			fault = err.Error()
			continue
		}
		s.session, s.state = session, bfd.Down
	}
	if fault != "" && fault != l.fault {
		l.log.Error("bfd session not made", "error", fault)
	}
	l.fault = fault
	if l.mender != nil {
		l.mender.Stop()
	}
	if fault != "" {
		l.mender = time.AfterFunc(mendEvery, l.again)
	}
}

// again mends what could not be made.
func (l *lifeline) again() {
	l.mu.Lock()
	if l.running && l.conf != nil {
		l.mend()
	}
	l.mu.Unlock()
	l.changed()
}

// up returns the strand that is up, or nil. The caller holds mu.
func (l *lifeline) up() *strand {
	for _, s := range l.strands {
		if s.session != nil && s.state == bfd.Up {
			return s
		}
	}
	return nil
}

// event follows a transition. It comes from the engine's own goroutine.
func (l *lifeline) event(s *strand, e bfd.Event) {
	l.mu.Lock()
	if !slices.Contains(l.strands, s) || s.session == nil {
		l.mu.Unlock()
		return
	}
	s.state = e.To
	l.barred = e.Reason == bfd.ReasonPeerAdminDown
	gone := lost(e)
	switch {
	case e.To == bfd.Up:
		l.risen = true
		l.dropOthers(s)
	case e.From == bfd.Up:
		l.since = e.At
		l.mend() // the router may come back as the other kind
	}
	l.mu.Unlock()
	switch {
	case e.To == bfd.Up:
		first := l.rise()
		l.mu.Lock()
		l.follows = first
		l.mu.Unlock()
	case gone:
		l.fall("BFD went down: " + e.Reason.String())
	}
	l.changed()
}

// dropOthers ends the strands that s makes needless. The caller holds mu.
func (l *lifeline) dropOthers(s *strand) {
	for _, o := range l.strands {
		if o != s && o.session != nil {
			o.session.Remove()
			o.session = nil
		}
	}
}

// configure follows a change of settings, nil for no BFD, without a touch to
// BGP from our side. New timers are negotiated on the live session.
func (l *lifeline) configure(to *BFD) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.conf
	l.conf = to
	switch {
	case !l.running:
	case was == nil:
		l.begin()
	case to == nil:
		for _, s := range l.take() {
			go l.sayGoodbye(s)
		}
	case !reflect.DeepEqual(was.Auth, to.Auth):
		for _, s := range l.take() {
			s.Remove()
		}
		l.begin()
	case was.Interval != to.Interval || was.Multiplier != to.Multiplier:
		for _, s := range l.strands {
			if s.session == nil {
				continue
			}
			if err := s.session.Update(bfd.Intervals{DesiredMinTx: to.Interval,
				RequiredMinRx: to.Interval, Multiplier: uint8(to.Multiplier)}); err != nil {
				l.log.Error("bfd intervals not changed", "error", err)
			}
		}
	}
}

// stop ends the sessions: AdminDown for a detection time. BGP has ended
// before, since FRR 8.4 and BIRD 2.0 close it on AdminDown.
func (l *lifeline) stop() {
	l.mu.Lock()
	l.running = false
	if l.mender != nil {
		l.mender.Stop()
	}
	all := l.take()
	l.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { l.sayGoodbye(s) })
	}
	wg.Wait()
}

// take takes the sessions out; their events are ignored from here on. The
// caller holds mu.
func (l *lifeline) take() []*bfd.Session {
	var all []*bfd.Session
	for _, s := range l.strands {
		if s.session != nil {
			all = append(all, s.session)
		}
	}
	l.strands, l.fault = nil, ""
	return all
}

// sayGoodbye takes a session down politely, or at once when Close has run out
// of patience.
func (l *lifeline) sayGoodbye(s *bfd.Session) {
	ctx, cancel := context.WithTimeout(l.beat.patience, goodbyeBFD)
	defer cancel()
	_ = s.Shutdown(ctx) // an error says that there was no time for all of it
}

// wait returns how long BGP has to wait for BFD from now on.
func (l *lifeline) wait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conf == nil || !l.running {
		return 0
	}
	st := standing{up: l.up() != nil, since: l.since, follows: l.follows, barred: l.barred, absent: true}
	for _, s := range l.strands {
		if s.session != nil {
			st.absent = false
			st.barred = st.barred || s.session.Status().RemoteState == bfd.AdminDown
		}
	}
	return st.wait(l.conf.Strict, time.Now())
}
