package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"recuse/agent/control"
)

// wishes are what operators want of a service, by command and by file.
type wishes struct {
	command bool // drained by command
	force   bool
	reason  string    // the operator's words
	until   time.Time // the drain ends by itself; zero: it does not
	file    bool      // drain_file exists
	waiting []chan error
}

// admin is what the decision needs of the wishes.
func (w wishes) admin() Admin {
	return Admin{Drained: w.command || w.file, Force: w.force,
		Patient: w.file && !w.command}
}

// expire ends a drain whose time is over, and returns when that will be.
func (w *wishes) expire(now time.Time) time.Time {
	if w.until.IsZero() || now.Before(w.until) {
		return w.until
	}
	w.end()
	return time.Time{}
}

// end forgets the drain by command.
func (w *wishes) end() {
	w.command, w.force, w.reason, w.until = false, false, "", time.Time{}
}

// answer tells all who wait for the drain how it went.
func (w *wishes) answer(err error) {
	for _, c := range w.waiting {
		c <- err
	}
	w.waiting = nil
}

// settleDrain answers those who wait once the drain has succeeded or failed.
func (s *service) settleDrain() {
	switch {
	case s.out() && s.wishes.command:
		s.wishes.answer(nil)
	case s.state.Reason == DrainAlone && s.wishes.command:
		s.wishes.end()
		s.wishes.answer(errors.New("no other node is seen to serve " +
			s.conf.Name + ", so it was left as it was; --force drains all " +
			"the same"))
	case !s.wishes.command && len(s.wishes.waiting) > 0:
		s.wishes.answer(errors.New("the drain was taken back"))
	}
}

// out tells whether the service has no route and waits for nothing on the way.
func (s *service) out() bool {
	return s.state.Phase == Down || s.state.Phase == Held
}

// errNoService names what there is.
func (l *loop) errNoService(name string) error {
	var names []string
	for _, s := range l.services {
		names = append(names, s.conf.Name)
	}
	return fmt.Errorf("service %q: there is none; there are: %v", name, names)
}

// service finds one by its name.
func (l *loop) service(name string) (*service, error) {
	for _, s := range l.services {
		if s.conf.Name == name {
			return s, nil
		}
	}
	return nil, l.errNoService(name)
}

// maxReason bounds an operator's words: they stand in a line of the log.
const maxReason = 200

// refused says what is wrong with a wish that came over the socket, for whose
// sender nothing has been checked.
func refused(d control.Drain) error {
	switch {
	case d.For < 0:
		return fmt.Errorf("for: %q: must be above 0, such as 30m, or absent",
			time.Duration(d.For))
	case len(d.Reason) > maxReason || !utf8.ValidString(d.Reason) ||
		strings.ContainsFunc(d.Reason, unicode.IsControl):
		return fmt.Errorf("reason: %.40q: must be a text of at most %d bytes "+
			"without control characters", d.Reason, maxReason)
	}
	return nil
}

// Drain takes a service out of the routing and waits until it is out, or until
// that has failed because nobody else serves.
func (a *Agent) Drain(ctx context.Context, d control.Drain) error {
	if err := refused(d); err != nil {
		return err
	}
	done := make(chan error, 1)
	var err error
	if e := a.loop.call(ctx, func() {
		var s *service
		if s, err = a.loop.service(d.Service); err != nil {
			return
		}
		s.wishes.command, s.wishes.force = true, d.Force
		s.wishes.reason, s.wishes.until = d.Reason, time.Time{}
		if d.For > 0 {
			s.wishes.until = time.Now().Add(time.Duration(d.For))
		}
		s.wishes.waiting = append(s.wishes.waiting, done)
		a.loop.log.Info("drain asked", "service", d.Service, "for",
			time.Duration(d.For), "reason", d.Reason, "force", d.Force)
	}); e != nil {
		return e // err may yet be written
	}
	if err != nil {
		return err
	}
	select {
	case err = <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the drain goes on, but was not waited for: %w",
			ctx.Err())
	}
}

// Undrain takes a drain back.
func (a *Agent) Undrain(ctx context.Context, name string) error {
	return a.change(ctx, name, func(s *service) error {
		if s.wishes.file {
			return fmt.Errorf("%s is drained by %s: remove the file", name,
				s.conf.DrainFile)
		}
		if !s.wishes.command {
			return fmt.Errorf("%s is not drained", name)
		}
		s.wishes.end()
		a.loop.log.Info("drain taken back", "service", name)
		return nil
	})
}

// Resume ends a hold, with failback: manual too.
func (a *Agent) Resume(ctx context.Context, name string) error {
	return a.change(ctx, name, func(s *service) error {
		if s.state.Hold.over(time.Now()) {
			return fmt.Errorf("%s is not in a hold", name)
		}
		s.state.Hold = s.state.Hold.resumed()
		a.loop.log.Info("hold ended by command", "service", name)
		return nil
	})
}

// change runs f on one service in the loop.
func (a *Agent) change(ctx context.Context, name string,
	f func(*service) error) error {
	var err error
	if e := a.loop.call(ctx, func() {
		var s *service
		if s, err = a.loop.service(name); err == nil {
			err = f(s)
		}
	}); e != nil {
		return e
	}
	return err
}

// drainFileEvent tells that a drain_file appeared or went.
type drainFileEvent struct {
	service *service
	file    string
	exists  bool
}

// apply notes the wish, unless a reload has named another file since.
func (e drainFileEvent) apply(l *loop) {
	if e.file != e.service.conf.DrainFile {
		return
	}
	if e.service.wishes.file != e.exists {
		l.log.Info("drain file changed", "service", e.service.conf.Name,
			"file", e.service.conf.DrainFile, "exists", e.exists)
	}
	e.service.wishes.file = e.exists
}
