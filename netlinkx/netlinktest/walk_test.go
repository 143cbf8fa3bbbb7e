package netlinktest

import (
	"errors"
	"flag"
	"net/netip"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"pgregory.net/rapid"

	"recuse/netlinkx"
)

// TestWalk takes pseudorandom steps on a fake and on the kernel, and compares
// the state, what the holder sees of it, and its errors after each.
func TestWalk(t *testing.T) {
	NewNS(t)
	able := Kind(t)
	NeedKind(t, netlinkx.KindBridge)
	rapid.Check(t, func(r *rapid.T) {
		c := config(rapid.SampledFrom([]string{able, netlinkx.KindExisting}).Draw(r, "kind"))
		w := walker{able: able, fake: NewFake(r, c), box: NewBox(r, c)}
		defer w.clean(r)
		for _, s := range []subject{w.fake, w.box} {
			if err := s.Lock(); err != nil {
				r.Fatalf("failed to lock: %v", err)
			}
		}
		r.Repeat(w.actions())
	})
}

// TestMain makes walks fewer than rapid's hundred, unless -rapid.checks asks
// for more: the kernel takes some 10 ms to delete a link.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	os.Exit(m.Run()) // parses the command line
}

// walker walks on both.
type walker struct {
	able string // the kind of link that the kernel can make
	fake *Fake
	box  *Box
}

// clean leaves the namespace as it was found.
func (w walker) clean(r *rapid.T) {
	if err := w.box.Remove(); err != nil {
		r.Errorf("failed to remove: %v", err)
	}
	if link, err := netlink.LinkByName(w.box.name); err == nil {
		w.box.must("delete", netlink.LinkDel(link))
	}
}

// actions returns the steps to choose from, and the comparison after each.
func (w walker) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":              w.compare,
		"ensure":        w.agent(subject.Ensure),
		"raise":         w.agent(subject.Raise),
		"lower":         w.agent(subject.Lower),
		"set up":        w.operator(w.down, subject.SetUp),
		"set down":      w.operator(w.up, subject.SetDown),
		"delete link":   w.operator(w.exists, subject.DeleteLink),
		"add foreign":   w.operator(w.absent, func(s subject) { s.AddLink(w.able, "") }),
		"add leftover":  w.operator(w.absent, func(s subject) { s.AddLink(w.able, "recuse:dns") }),
		"add bridge":    w.operator(w.absent, func(s subject) { s.AddLink("bridge", "recuse:dns") }),
		"add IPv4":      w.operator(w.lacks(v4), func(s subject) { s.AddAddress(v4) }),
		"add IPv6":      w.operator(w.lacks(v6), func(s subject) { s.AddAddress(v6) }),
		"delete IPv4":   w.operator(w.has(v4), func(s subject) { s.DeleteAddress(v4) }),
		"delete IPv6":   w.operator(w.has(v6), func(s subject) { s.DeleteAddress(v6) }),
		"delete routes": w.operator(w.guarded, func(s subject) { s.DeleteGuard(v6) }),
	}
}

// agent makes an action of an operation of the agent.
func (w walker) agent(do func(subject) error) func(*rapid.T) {
	return func(r *rapid.T) { sameError(r, do(w.fake), do(w.box)) }
}

// operator makes an action of an operator's, taken if the fake's state allows.
func (w walker) operator(when func() bool, do func(subject)) func(*rapid.T) {
	return func(r *rapid.T) {
		if !when() {
			r.Skip("not in this state")
		}
		do(w.fake)
		do(w.box)
	}
}

// compare compares the states and what the holders see of them.
func (w walker) compare(r *rapid.T) {
	if diff := cmp.Diff(w.fake.String(), w.box.String()); diff != "" {
		r.Fatalf("unexpected state of the kernel (-fake +kernel):\n%s", diff)
	}
	fake, errFake := w.fake.Observe()
	box, errBox := w.box.Observe()
	sameError(r, errFake, errBox)
	if diff := cmp.Diff(fake, box, cmp.Comparer(samePrefix)); diff != "" {
		r.Fatalf("unexpected observation (-fake +kernel):\n%s", diff)
	}
	if w.fake.Writes() != w.box.Writes() {
		r.Fatalf("unexpected writes: fake %d, kernel %d", w.fake.Writes(), w.box.Writes())
	}
}

// sameError fails unless both are the same sentinel, or nil.
func sameError(r *rapid.T, fake, box error) {
	for _, want := range []error{nil, netlinkx.ErrForeign, netlinkx.ErrNoLink} {
		if errors.Is(fake, want) && errors.Is(box, want) {
			return
		}
	}
	r.Fatalf("unexpected error of the kernel: %v, the fake's: %v", box, fake)
}

// samePrefix compares prefixes for cmp.
func samePrefix(a, b netip.Prefix) bool { return a == b }

// The states in which an operator's actions are possible.
func (w walker) exists() bool  { return w.fake.kernel.link.Exists }
func (w walker) absent() bool  { return !w.exists() }
func (w walker) up() bool      { return w.exists() && w.fake.kernel.link.Up }
func (w walker) down() bool    { return w.exists() && !w.fake.kernel.link.Up }
func (w walker) guarded() bool { return len(w.fake.kernel.guards) > 0 }

// has says that the link has the address.
func (w walker) has(p netip.Prefix) func() bool {
	return func() bool {
		for _, a := range w.fake.kernel.link.Addresses {
			if a.Prefix == p {
				return true
			}
		}
		return false
	}
}

// lacks says that there is a link and that it lacks the address. On a bridge
// the kernel looks for duplicates in its own time, so none is added there.
func (w walker) lacks(p netip.Prefix) func() bool {
	return func() bool {
		return w.exists() && w.fake.kernel.link.Kind != "bridge" && !w.has(p)()
	}
}
