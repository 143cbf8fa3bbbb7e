package netlinktest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
)

// recorder is a test that keeps its failures.
type recorder struct{ failures []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }
func (r *recorder) Skipf(format string, args ...any)  { r.Errorf(format, args...) }

// TestStrict states what fails a test that the kernel would let pass.
func TestStrict(t *testing.T) {
	locked := func(f *Fake) { _ = f.Lock() }
	tests := []struct {
		name string
		do   func(f *Fake)
		want string // in the one failure, "" for none
	}{
		{"nothing wrong", func(f *Fake) { locked(f); _ = f.Raise(); _ = f.Lower(); _ = f.Remove() }, ""},
		{"without the lock", func(f *Fake) { _ = f.kernel.Apply(netlinkx.Op{Verb: netlinkx.AddGuard, Prefix: v6}) },
			"the lock is not held"},
		{"unknown step", func(f *Fake) { locked(f); _ = f.Ensure(); _ = f.kernel.Apply(netlinkx.Op{Verb: 99, Link: "anycast0"}) },
			"not called for: invalid argument"},
		{"address twice", func(f *Fake) {
			locked(f)
			_ = f.Raise()
			_ = f.kernel.Apply(netlinkx.Op{Verb: netlinkx.AddAddress, Link: "anycast0", Prefix: v4})
		}, "not called for: file exists"},
		{"needless up", func(f *Fake) {
			locked(f)
			_ = f.Raise()
			_ = f.kernel.Apply(netlinkx.Op{Verb: netlinkx.SetLinkUp, Link: "anycast0"})
		}, "not called for: operation already in progress"},
		{"repair of what is right", func(f *Fake) {
			locked(f)
			_ = f.Raise()
			_ = f.kernel.Apply(netlinkx.Op{Verb: netlinkx.RepairAddress, Link: "anycast0", Prefix: v6})
		}, "not called for: invalid argument"},
		{"IPv4 guard", func(f *Fake) { locked(f); _ = f.kernel.Apply(netlinkx.Op{Verb: netlinkx.AddGuard, Prefix: v4}) },
			"not called for: invalid argument"},
		{"another link", func(f *Fake) { _, _ = f.kernel.Link("eth0") }, `link "eth0" read`},
		{"operator on no link", func(f *Fake) { f.SetDown() }, "operator cannot set down link"},
		{"overtaken by an operator", func(f *Fake) {
			locked(f)
			_ = f.Raise()
			f.DeleteLink()
			_ = f.kernel.Apply(netlinkx.Op{Verb: netlinkx.AddAddress, Link: "anycast0", Prefix: v4})
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{}
			tt.do(NewFake(r, config(netlinkx.KindDummy)))
			got := strings.Join(r.failures, "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || len(r.failures) > 1 {
				t.Errorf("got failures %q, want one with %q", r.failures, tt.want)
			}
		})
	}
}

// newFake returns a locked Fake.
func newFake(t *testing.T) *Fake {
	t.Helper()
	f := NewFake(t, config(netlinkx.KindDummy))
	if err := f.Lock(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFailures states what is returned for what a test asks to go wrong.
func TestFailures(t *testing.T) {
	tests := []struct {
		name string
		ask  func(f *Fake)
		do   func(f *Fake) error
		want error
	}{
		{"another agent", func(f *Fake) { f.Occupy(true) },
			func(f *Fake) error { return errors.Join(f.Remove(), f.Lock()) }, netlinkx.ErrInUse},
		{"no dummy", func(f *Fake) { f.Lack(netlinkx.KindDummy) }, (*Fake).Ensure, netlinkx.ErrNoKind},
		{"no IPv6", func(f *Fake) { f.Fail(netlinkx.AddGuard, unix.EACCES) }, (*Fake).Raise, netlinkx.ErrNoIPv6},
		{"not permitted", func(f *Fake) { f.Fail(netlinkx.SetLinkUp, unix.EPERM) }, (*Fake).Raise, unix.EPERM},
		{"unreadable", func(f *Fake) { f.FailReads(unix.EIO) },
			func(f *Fake) error { _, err := f.Observe(); return err }, unix.EIO},
		{"unreadable at the end", func(f *Fake) { f.FailReads(unix.EIO) }, (*Fake).Remove, unix.EIO},
		{"healed", func(f *Fake) { f.Fail(netlinkx.SetLinkUp, unix.EPERM); f.Fail(netlinkx.SetLinkUp, nil) },
			(*Fake).Raise, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			tt.ask(f)
			if err := tt.do(f); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

// TestRemoveGoesOn has the link refuse to go: the route and the lock go.
func TestRemoveGoesOn(t *testing.T) {
	f := newFake(t)
	if err := f.Raise(); err != nil {
		t.Fatal(err)
	}
	f.Fail(netlinkx.DeleteLink, unix.EBUSY)
	if err := f.Remove(); !errors.Is(err, unix.EBUSY) {
		t.Errorf("got error %v, want %v", err, unix.EBUSY)
	}
	want := "link anycast0 dummy up \"recuse:dns\"\n" + only4 + only6
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Errorf("unexpected state (-want +got):\n%s", diff)
	}
	if err := f.Lock(); err != nil {
		t.Errorf("the lock was kept: %v", err)
	}
}

// TestFakeWatch states what wakes a watcher, and what a trace shows.
func TestFakeWatch(t *testing.T) {
	f := newFake(t)
	wake, err := f.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	f.Trace(func(op netlinkx.Op) { steps = append(steps, op.Verb.String()) })
	for _, tt := range []struct {
		name string
		do   func()
		want bool
	}{
		{"nothing yet", func() {}, false},
		{"raise", func() { _ = f.Raise() }, true},
		{"raise again", func() { _ = f.Raise() }, false},
		{"operator", f.SetDown, true},
		{"duplicate", func() { f.Duplicate(v6) }, true},
		{"by hand, twice", func() { f.Wake(); f.Wake() }, true},
	} {
		tt.do()
		got := 0
		for len(wake) > 0 {
			<-wake
			got++
		}
		if (got == 1) != tt.want || got > 1 {
			t.Errorf("%s: got %d wake-ups, want %v", tt.name, got, tt.want)
		}
	}
	want := []string{"add unreachable route to", "create link", "set the alias of link", "set up link",
		"add address", "add address"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("unexpected steps (-want +got):\n%s", diff)
	}
	if f.Writes() != len(want) {
		t.Errorf("got %d writes, want %d", f.Writes(), len(want))
	}
}

// TestDuplicate finds the IPv6 address at another host: it does not count until
// it is raised anew.
func TestDuplicate(t *testing.T) {
	f := newFake(t)
	for _, want := range []int{2, 1, 2} {
		if want == 1 {
			f.Duplicate(v6)
		} else if err := f.Raise(); err != nil {
			t.Fatal(err)
		}
		s, err := f.Observe()
		if err != nil || len(s.Present) != want {
			t.Errorf("got %v present, %v, want %d", s.Present, err, want)
		}
	}
}

// TestRelease gives up the lock and nothing else.
func TestRelease(t *testing.T) {
	f := newFake(t)
	if err := f.Raise(); err != nil {
		t.Fatal(err)
	}
	f.Occupy(true)
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(raised, "KIND", netlinkx.KindDummy),
		f.String()); diff != "" {
		t.Errorf("unexpected state (-want +got):\n%s", diff)
	}
	if err := f.Lock(); !errors.Is(err, netlinkx.ErrInUse) {
		t.Errorf("the lock was not given up: %v", err)
	}
}
