package netlinktest

import (
	"context"

	"recuse/netlinkx"
)

// Fake is a holder whose kernel lives in memory. Holder's own methods work on
// it, and so plan and fail as on the real one. It is stricter than the kernel:
// a write that the state did not call for, one without the lock, or one it does
// not know fails the test. Its methods may be called from any goroutine, those
// of Holder from one.
type Fake struct {
	*netlinkx.Holder
	operator
}

// NewFake returns a Fake for c, on a box with no link but those that AddLink
// adds. A configuration that is not valid ends the test.
func NewFake(t TB, c netlinkx.Config) *Fake {
	t.Helper()
	m := newMemory(t, c.Link)
	h, err := netlinkx.On(c, m)
	if err != nil {
		t.Fatalf("netlinktest: invalid configuration: %v", err)
	}
	return &Fake{Holder: h, operator: operator{m}}
}

// Watch is as netlinkx.Watch: every change, by whomever, is a wake-up.
func (f *Fake) Watch(ctx context.Context) (<-chan struct{}, error) {
	wake := make(chan struct{}, 1)
	f.kernel.mu.Lock()
	f.kernel.wakes = append(f.kernel.wakes, wake)
	f.kernel.mu.Unlock()
	return wake, ctx.Err()
}

// Wake delivers a wake-up without any change, as after an overrun.
func (f *Fake) Wake() {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	f.kernel.wake()
}

// Writes returns how many steps have changed the state so far.
func (f *Fake) Writes() int {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	return f.kernel.writes
}

// Trace makes the fake call see with each step that changed the state, from the
// goroutine that asked for it, and before that goroutine goes on.
func (f *Fake) Trace(see func(netlinkx.Op)) {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	f.kernel.trace = see
}

// Fail makes every step of that verb fail with err, until it is nil.
func (f *Fake) Fail(v netlinkx.Verb, err error) {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	f.kernel.failures[v] = err
}

// FailReads makes every reading of the state fail with err, until it is nil.
func (f *Fake) FailReads(err error) {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	f.kernel.unread = err
}

// Occupy makes another agent have the link and its addresses, or not.
func (f *Fake) Occupy(yes bool) {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	f.kernel.occupied = yes
}

// Lack takes a kind of link away from the kernel, as one without its module.
func (f *Fake) Lack(kind string) {
	f.kernel.mu.Lock()
	defer f.kernel.mu.Unlock()
	f.kernel.lacks[kind] = true
}
