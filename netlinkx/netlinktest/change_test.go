package netlinktest

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/netlinkx"
)

// changer is a subject whose addresses can be changed.
type changer interface {
	subject
	SetAddresses([]netip.Prefix) error
}

// TestSetAddresses changes what a raised link holds, on the fake and on the
// kernel: what stays is not touched, what goes goes whole.
func TestSetAddresses(t *testing.T) {
	more := netip.MustParsePrefix("192.0.2.54/32")
	play := func(t *testing.T, s changer, kind string) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(text string) {
			t.Helper()
			text = strings.ReplaceAll(text, "KIND", kind)
			if diff := cmp.Diff(text, s.String()); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		}
		must(s.Lock())
		must(s.Raise())
		want(raised)
		must(s.SetAddresses([]netip.Prefix{v4, more}))
		want(isUp + only4)
		must(s.Raise())
		want(isUp + only4 + "  address 192.0.2.54/32\n")
		writes := s.Writes()
		must(s.SetAddresses([]netip.Prefix{v4, more}))
		if got := s.Writes() - writes; got != 0 {
			t.Errorf("no change took %d writes", got)
		}
		must(s.SetAddresses([]netip.Prefix{v4, v6}))
		must(s.Raise())
		want(raised)
		if err := s.SetAddresses(nil); err == nil {
			t.Error("a holder without addresses is no error")
		}
		must(s.Remove())
		want(nothing)
	}
	t.Run("simulated", func(t *testing.T) {
		play(t, NewFake(t, config(netlinkx.KindDummy)), netlinkx.KindDummy)
	})
	t.Run("kernel", func(t *testing.T) {
		NewNS(t)
		kind := Kind(t)
		play(t, NewBox(t, config(kind)), kind)
	})
}

// TestSetAddressesFrees proves that an address which a service has given up is
// free for another at once, though the first goes on.
func TestSetAddressesFrees(t *testing.T) {
	NewNS(t)
	kind := Kind(t)
	b := NewBox(t, config(kind))
	next := config(kind)
	next.Service, next.Link = "web", "anycast1"
	next.Addresses = []netip.Prefix{v6}
	other := NewBox(t, next)
	if err := errors.Join(b.Lock(), b.Raise()); err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(); !errors.Is(err, netlinkx.ErrInUse) {
		t.Errorf("before: unexpected error: %v", err)
	}
	if err := b.SetAddresses([]netip.Prefix{v4}); err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(); err != nil {
		t.Errorf("after: unexpected error: %v", err)
	}
	if err := b.SetAddresses([]netip.Prefix{v4, v6}); !errors.Is(err, netlinkx.ErrInUse) {
		t.Errorf("back: unexpected error: %v", err)
	}
	if err := other.Release(); err != nil {
		t.Fatal(err)
	}
	if err := b.SetAddresses([]netip.Prefix{v4, v6}); err != nil {
		t.Errorf("back, once it is free: unexpected error: %v", err)
	}
}

// TestSetAddressesClaims proves that an address of another agent is refused
// before anything changes.
func TestSetAddressesClaims(t *testing.T) {
	NewNS(t)
	kind := Kind(t)
	theirs := config(kind)
	theirs.Service, theirs.Link = "web", "anycast1"
	theirs.Addresses = []netip.Prefix{netip.MustParsePrefix("192.0.2.54/32")}
	other := NewBox(t, theirs)
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	b := NewBox(t, config(kind))
	if err := errors.Join(b.Lock(), b.Raise()); err != nil {
		t.Fatal(err)
	}
	before := b.String()
	err := b.SetAddresses(theirs.Addresses)
	if !errors.Is(err, netlinkx.ErrInUse) {
		t.Errorf("unexpected error: %v", err)
	}
	if diff := cmp.Diff(before, b.String()); diff != "" {
		t.Errorf("something changed (-want +got):\n%s", diff)
	}
}
