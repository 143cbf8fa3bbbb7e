package netlinktest

import (
	"io"
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"recuse/netlinkx"
)

// memory is the kernel of a Fake: one link of one name, and the guards.
type memory struct {
	t    TB
	name string // of the only link that it can have

	mu       sync.Mutex
	link     netlinkx.Link
	guards   []netip.Prefix
	indexes  int             // the last index given
	locked   map[string]bool // the names that are claimed
	occupied bool            // another agent has the names
	changed  bool            // an operator changed something since the last reading
	writes   int
	lacks    map[string]bool
	failures map[netlinkx.Verb]error
	unread   error
	trace    func(netlinkx.Op)
	wakes    []chan struct{}
}

// newMemory returns an empty kernel.
func newMemory(t TB, name string) *memory {
	return &memory{t: t, name: name, indexes: 1, lacks: map[string]bool{},
		locked:   map[string]bool{},
		failures: map[netlinkx.Verb]error{}}
}

// wake delivers one wake-up to every watcher; mu is held.
func (m *memory) wake() {
	for _, w := range m.wakes {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// Link implements netlinkx.Kernel.
func (m *memory) Link(name string) (netlinkx.Link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unread != nil {
		return netlinkx.Link{}, m.unread
	}
	if name != m.name {
		m.t.Errorf("netlinktest: link %q read, the holder's is %q", name, m.name)
	}
	m.changed = false
	l := m.link
	l.Name = m.name
	l.Addresses = slices.Clone(l.Addresses)
	return l, nil
}

// Guards implements netlinkx.Kernel.
func (m *memory) Guards() ([]netip.Prefix, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.guards), m.unread
}

// Links implements netlinkx.Kernel.
func (m *memory) Links() ([]netlinkx.Link, error) {
	l, err := m.Link(m.name)
	if err != nil || !l.Exists {
		return nil, err
	}
	return []netlinkx.Link{l}, nil
}

// Lock implements netlinkx.Kernel.
func (m *memory) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.occupied {
		return nil, &netlinkx.InUseError{Name: name, PID: 4711}
	}
	if m.locked[name] {
		m.t.Errorf("netlinktest: %s locked twice", name)
	}
	m.locked[name] = true
	return unlocker{m, name}, nil
}

// unlocker gives up the lock.
type unlocker struct {
	*memory
	name string
}

// Close implements io.Closer.
func (u unlocker) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.locked[u.name] {
		u.t.Errorf("netlinktest: %s given up twice", u.name)
	}
	delete(u.locked, u.name)
	return nil
}

// Apply implements netlinkx.Kernel.
func (m *memory) Apply(op netlinkx.Op) error {
	trace, err := m.write(op)
	if err == nil && trace != nil {
		trace(op)
	}
	return err
}

// write does op and returns who wants to see it. A failure is one of the test,
// unless it was asked for or an operator was at work since the last reading.
func (m *memory) write(op netlinkx.Op) (func(netlinkx.Op), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failures[op.Verb]; err != nil {
		return nil, err
	}
	if op.Verb == netlinkx.CreateLink && m.lacks[op.Kind] {
		return nil, unix.EOPNOTSUPP
	}
	if len(m.locked) == 0 {
		m.t.Errorf("netlinktest: %s: the lock is not held", op)
	}
	if err := m.apply(op); err != nil {
		if !m.changed {
			m.t.Errorf("netlinktest: %s: not called for: %v, the state is:\n%s", op, err, m.render())
		}
		return nil, err
	}
	m.writes++
	m.wake()
	return m.trace, nil
}
