package agent

import (
	"context"
	"log/slog"
	"time"

	"recuse/agent/control"
)

// eventsKept is how many decisions are remembered.
const eventsKept = 1000

// followerQueue is how many events a slow reader may be behind before it is
// cut off; the loop never waits for one.
const followerQueue = 256

// diary remembers the last decisions and hands new ones to followers. It
// belongs to the loop.
type diary struct {
	events    []control.Event // oldest first
	seq       uint64
	followers map[chan control.Event]bool
}

// add remembers one event.
func (d *diary) add(e control.Event) {
	d.seq++
	e.Seq = d.seq
	if len(d.events) == eventsKept {
		d.events = append(d.events[:0], d.events[1:]...)
	}
	d.events = append(d.events, e)
	for f := range d.followers {
		select {
		case f <- e:
		default:
			d.unfollow(f)
		}
	}
}

// follow returns what is remembered and a channel with what comes; it is
// closed if the reader is too slow.
func (d *diary) follow() ([]control.Event, chan control.Event) {
	f := make(chan control.Event, followerQueue)
	if d.followers == nil {
		d.followers = map[chan control.Event]bool{}
	}
	d.followers[f] = true
	return append([]control.Event(nil), d.events...), f
}

// unfollow ends a follower; twice is once.
func (d *diary) unfollow(f chan control.Event) {
	if d.followers[f] {
		delete(d.followers, f)
		close(f)
	}
}

// Events gives the remembered decisions and, if follow is set, the coming ones
// until ctx ends or the reader is too slow.
func (a *Agent) Events(ctx context.Context, follow bool) ([]control.Event,
	<-chan control.Event, error) {
	var past []control.Event
	var coming chan control.Event
	err := a.loop.call(ctx, func() {
		past, coming = a.loop.diary.follow()
		if !follow {
			a.loop.diary.unfollow(coming)
		}
	})
	if err != nil {
		return nil, nil, err // past may yet be written
	}
	if !follow {
		return past, nil, nil
	}
	context.AfterFunc(ctx, func() {
		a.loop.send(callEvent{func() { a.loop.diary.unfollow(coming) },
			make(chan struct{})})
	})
	return past, coming, nil
}

// decided logs and remembers one decision with its evidence.
func (s *service) decided(l *loop, now time.Time, before State) {
	e := control.Event{At: now, Service: s.conf.Name,
		From: before.Phase.String(), To: s.state.Phase.String(),
		Stance: s.orders.Stance.String(), Reason: s.state.Reason.String(),
		Detail: s.state.Detail, Others: s.othersNow.Known.String(),
		Evidence: s.testimony()}
	for _, n := range s.othersNow.Nodes {
		e.Nodes = append(e.Nodes, n.String())
	}
	e.HoldUntil = s.holdUntil(now)
	l.diary.add(e)
	if s.decisions == nil {
		s.decisions = map[decision]uint64{}
	}
	s.decisions[decision{s.state.Phase, s.state.Reason}]++
	level := slog.LevelInfo
	if s.state.Reason.bad() {
		level = slog.LevelWarn
	}
	l.log.Log(context.Background(), level, "service changed",
		"service", e.Service, "from", e.From, "to", e.To, "stance", e.Stance,
		"reason", e.Reason, "detail", e.Detail, "others", e.Others)
}

// testimony is what every check last saw.
func (s *service) testimony() []control.Testimony {
	var list []control.Testimony
	add := func(c *check) {
		list = append(list, control.Testimony{Check: c.name,
			Level:   c.last.Verdict.Level.String(),
			Outcome: c.last.Result.Outcome, RTTMS: ms(c.last.Result.RTT()),
			Failures: c.last.Verdict.Fails, Passes: c.last.Verdict.Passes})
	}
	for _, c := range s.checks {
		add(c)
	}
	for _, p := range s.conf.Addresses {
		if one := s.paths[p.Addr()]; one != nil {
			add(&one.check)
		}
	}
	return list
}

// holdUntil is when the hold ends, if one lasts.
func (s *service) holdUntil(now time.Time) *time.Time {
	if h := s.state.Hold; !h.Manual && now.Before(h.Until) {
		return &h.Until
	}
	return nil
}
