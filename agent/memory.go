package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"recuse/agent/control"
)

// memoryFile is where, in state_dir, holds and drains outlive a restart.
const memoryFile = "services.json"

// memoryEvery is how often remaining times are written while they run. They
// are kept as spans: a box without a clock battery knows no other.
const memoryEvery = time.Minute

// memory is the content of the file, by service.
type memory map[string]remembered

// remembered is what one service keeps. Equal values need no new writing.
type remembered struct {
	HoldLeft    control.Duration `json:"hold_left,omitempty"`
	HoldSpan    control.Duration `json:"hold_span,omitempty"`
	LeftAgo     control.Duration `json:"left_ago,omitempty"`
	Manual      bool             `json:"manual,omitempty"`
	Drained     bool             `json:"drained,omitempty"`
	DrainForced bool             `json:"drain_forced,omitempty"`
	DrainLeft   control.Duration `json:"drain_left,omitempty"`
	DrainReason string           `json:"drain_reason,omitempty"`
}

// remember renders what a service keeps at a moment.
func (s *service) remember(now time.Time) remembered {
	r := remembered{Manual: s.state.Hold.Manual, Drained: s.wishes.command,
		DrainForced: s.wishes.force, DrainReason: s.wishes.reason}
	if h := s.state.Hold; h.Span > 0 &&
		(now.Sub(h.Last) < holdMemory || now.Before(h.Until)) {
		r.HoldSpan = control.Duration(h.Span)
		r.LeftAgo = control.Duration(now.Sub(h.Last))
		r.HoldLeft = control.Duration(max(0, h.Until.Sub(now)))
	}
	if !s.wishes.until.IsZero() {
		r.DrainLeft = control.Duration(max(1, s.wishes.until.Sub(now)))
	}
	return r
}

// recall restores what a service kept, as far as the settings of today allow it.
func (s *service) recall(r remembered, now time.Time) {
	most := s.rules.HoldMax
	s.state.Hold = Hold{Manual: r.Manual,
		Span: min(time.Duration(r.HoldSpan), most)}.under(s.rules)
	if s.state.Hold.Span > 0 {
		s.state.Hold.Last = now.Add(-max(0, time.Duration(r.LeftAgo)))
		s.state.Hold.Until = now.Add(min(time.Duration(r.HoldLeft), most))
	}
	s.wishes.command, s.wishes.force = r.Drained, r.DrainForced
	s.wishes.reason = r.DrainReason
	if r.DrainLeft > 0 {
		s.wishes.until = now.Add(time.Duration(r.DrainLeft))
	}
}

// essence is what makes a new writing urgent: not the time that runs.
func (r remembered) essence() remembered {
	r.HoldLeft, r.LeftAgo = 0, 0
	if r.DrainLeft > 0 {
		r.DrainLeft = 1
	}
	return r
}

// keeper writes the memory in a goroutine of its own.
type keeper struct {
	dir   string
	log   *slog.Logger
	next  chan memory   // the latest, not yet written
	done  chan struct{} // closed when run has ended
	last  memory        // what the loop last handed over
	when  time.Time
	fault string             // the last failure, so that it is logged once
	tell  func(fault string) // raises the alarm, or ends it; nil for nobody
}

// newKeeper makes a keeper for a state_dir.
func newKeeper(dir string, log *slog.Logger) *keeper {
	return &keeper{dir: dir, log: log, next: make(chan memory, 1),
		done: make(chan struct{})}
}

// load reads the memory; none is no error.
func (k *keeper) load() (memory, error) {
	data, err := os.ReadFile(filepath.Join(k.dir, memoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read state_dir: %w", err)
	}
	var m memory
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("failed to read %s in state_dir: %w",
			memoryFile, err)
	}
	return m, nil
}

// offer hands over the memory if it is worth a writing. The loop calls it; it
// never blocks.
func (k *keeper) offer(m memory, now time.Time) {
	if k.last != nil && now.Sub(k.when) < memoryEvery && alike(m, k.last) {
		return
	}
	if k.last != nil && equal(m, k.last) {
		return
	}
	k.last, k.when = m, now
	select {
	case <-k.next: // an older one that nobody wrote yet
	default:
	}
	k.next <- m
}

// alike compares what is urgent.
func alike(a, b memory) bool {
	if len(a) != len(b) {
		return false
	}
	for name, r := range a {
		if r.essence() != b[name].essence() {
			return false
		}
	}
	return true
}

// equal compares everything.
func equal(a, b memory) bool {
	for name, r := range a {
		if r != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

// run writes until ctx ends, and then what is left. It is called once.
func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	for {
		select {
		case m := <-k.next:
			k.save(m)
		case <-ctx.Done():
			select {
			case m := <-k.next:
				k.save(m)
			default:
			}
			return
		}
	}
}

// wait waits for the end of run, but not for longer than d.
func (k *keeper) wait(d time.Duration) {
	select {
	case <-k.done:
	case <-time.After(d):
		k.log.Warn("state_dir hangs: what outlives a restart may be old",
			"state_dir", k.dir)
	}
}

// save writes the memory. A failure is an alarm and no more.
func (k *keeper) save(m memory) {
	err := k.write(m)
	text := ""
	if err != nil {
		text = err.Error()
	}
	if k.tell != nil && text != k.fault {
		k.tell(text)
	}
	if text != k.fault && text != "" {
		k.log.Error("failed to keep holds and drains over a restart",
			"state_dir", k.dir, "error", err)
	}
	k.fault = text
}

// write replaces the file whole.
func (k *keeper) write(m memory) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("failed to render the state: %w", err)
	}
	if err := os.MkdirAll(k.dir, 0o750); err != nil {
		return fmt.Errorf("failed to make state_dir: %w", err)
	}
	f, err := os.CreateTemp(k.dir, memoryFile+".*")
	if err != nil {
		return fmt.Errorf("failed to write into state_dir: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(k.dir, memoryFile))
	}
	if err != nil {
		return fmt.Errorf("failed to write into state_dir: %w",
			errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
