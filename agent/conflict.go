package agent

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"recuse/netlinkx"
)

// conflictEvery limits how often the box's links are looked at for conflicts.
const conflictEvery = 5 * time.Second

// finder finds the addresses that other links than ours make reachable.
type finder func([]netip.Prefix, []netlinkx.Config) ([]netlinkx.Conflict, error)

// lookForConflicts notes the service addresses that some other link has come to
// connect or to bear, if links or addresses changed since the last look. At the
// start and in a reload that is an error; later it is an alarm: the service is
// fit, and leaving would not keep the neighbours of that link away. It returns
// when it wants to look again.
func (l *loop) lookForConflicts(now time.Time) time.Time {
	switch {
	case l.connected == nil || !l.boxChanged || l.stop:
		return time.Time{}
	case now.Before(l.conflictsAfter):
		return l.conflictsAfter
	}
	l.boxChanged, l.conflictsAfter = false, now.Add(conflictEvery)
	var ours []netlinkx.Config
	for _, s := range l.services {
		// By name alone: a link of ours that somebody renamed still answers.
		ours = append(ours, netlinkx.Config{Link: s.conf.Link.Name})
	}
	for _, s := range l.services {
		found, err := l.connected(s.conf.Addresses, ours)
		if err != nil {
			l.boxChanged = true // a failed look says nothing
			return l.conflictsAfter
		}
		s.conflicts(l, found)
	}
	return time.Time{}
}

// conflicts keeps what a look found, and logs it if it is news.
func (s *service) conflicts(l *loop, found []netlinkx.Conflict) {
	var words []string
	for _, x := range found {
		words = append(words, x.String())
	}
	if text := strings.Join(words, "; "); text != "" {
		s.noted(l, &s.conflict, errors.New(text))
		return
	}
	if s.conflict != nil {
		l.log.Info("address conflict over", "service", s.conf.Name)
	}
	s.conflict = nil
}

// alarm is what is wrong with the link or its addresses, if anything.
func (s *service) alarm() error {
	if err := s.linkTrouble(); err != nil {
		return err
	}
	return s.conflict
}
