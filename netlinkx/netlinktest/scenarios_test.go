package netlinktest

import (
	"net/netip"

	"recuse/netlinkx"
)

// subject is what a scenario works on: a Fake or a Box. Its first seven methods
// are the agent's, those from SetUp on an operator's.
type subject interface {
	Lock() error
	Observe() (netlinkx.State, error)
	Ensure() error
	Adopt() error
	Raise() error
	Lower() error
	Remove() error

	SetUp()
	SetDown()
	DeleteLink()
	AddLink(kind, alias string)
	AddAddress(netip.Prefix)
	DeleteAddress(netip.Prefix)
	DeleteGuard(netip.Prefix)

	Writes() int
	String() string
}

var (
	v4 = netip.MustParsePrefix("192.0.2.53/32")
	v6 = netip.MustParsePrefix("2001:db8::53/128")

	// What an earlier configuration had.
	old4 = netip.MustParsePrefix("192.0.2.54/32")
	old6 = netip.MustParsePrefix("2001:db8::54/128")
)

// config returns the configuration of the scenarios.
func config(kind string) netlinkx.Config {
	return netlinkx.Config{Service: "dns", Link: "anycast0", Kind: kind,
		Addresses: []netip.Prefix{v4, v6}}
}

// The renderings of the states that scenarios come to; KIND is replaced by the
// kind of link that can be made.
const (
	nothing = ""
	guard   = "unreachable 2001:db8::53/128\n"
	only4   = "  address 192.0.2.53/32\n"
	only6   = "  address 2001:db8::53/128\n"
	isDown  = "link anycast0 KIND down \"recuse:dns\"\n"
	isUp    = "link anycast0 KIND up \"recuse:dns\"\n"
	raised  = isUp + only4 + only6 + guard
	lowered = isDown + only4 + guard
	theirs  = "link anycast0 KIND up \"\"\n"
)

// step is something done to a subject, the state that it leads to, and the
// error wanted. able is the kind of link that can be made.
type step struct {
	run   func(s subject, able string) error
	want  string
	err   error
	agent bool // done by the agent: may be repeated
}

// The steps that the agent takes, given the state that they must lead to.
func ensure(want string) step { return agent(subject.Ensure, want) }
func adopt(want string) step  { return agent(subject.Adopt, want) }
func raise(want string) step  { return agent(subject.Raise, want) }
func lower(want string) step  { return agent(subject.Lower, want) }
func remove(want string) step { return agent(subject.Remove, want) }

// agent makes a step of one of the agent's operations.
func agent(do func(subject) error, want string) step {
	return step{run: func(s subject, _ string) error { return do(s) }, want: want, agent: true}
}

// fails says that the step must fail so.
func (s step) fails(err error) step {
	s.err = err
	return s
}

// by makes a step of what an operator does.
func by(do func(s subject), want string) step {
	return step{run: func(s subject, _ string) error { do(s); return nil }, want: want}
}

// add makes a step in which an operator adds a link and sets it up; no kind is
// the kind that can be made.
func add(kind, alias, want string) step {
	return step{want: want, run: func(s subject, able string) error {
		s.AddLink(or(kind, able), alias)
		s.SetUp()
		return nil
	}}
}

// The steps that an operator takes on addresses and routes.
func addBoth(s subject)     { s.AddAddress(v4); s.AddAddress(v6) }
func addOld(s subject)      { s.AddAddress(old4); s.AddAddress(old6) }
func delete4(s subject)     { s.DeleteAddress(v4) }
func delete6(s subject)     { s.DeleteAddress(v6) }
func deleteGuard(s subject) { s.DeleteGuard(v6) }
func readd6(s subject)      { s.DeleteAddress(v6); s.AddAddress(v6) }

// scenarios are run on the fake and on the kernel.
var scenarios = []struct {
	name  string
	kind  string // configured; "" for the kind that can be made
	needs string // a kind that the kernel must have besides
	steps []step
}{
	{name: "life", steps: []step{
		ensure(isDown + guard), raise(raised), lower(lowered), raise(raised), remove(nothing),
	}},
	{name: "raise alone", steps: []step{raise(raised), remove(nothing)}},
	{name: "set down by hand", steps: []step{
		raise(raised), by(subject.SetDown, lowered), ensure(lowered), raise(raised),
	}},
	{name: "set up by hand", steps: []step{
		raise(raised), lower(lowered), by(subject.SetUp, isUp+only4+guard),
		ensure(isUp + only4 + guard), raise(raised),
	}},
	{name: "link deleted", steps: []step{
		raise(raised), by(subject.DeleteLink, guard), lower(guard), raise(raised),
		by(subject.DeleteLink, guard), ensure(isDown + guard), remove(nothing),
	}},
	{name: "link and route deleted, then removed", steps: []step{
		raise(raised), by(subject.DeleteLink, guard), by(deleteGuard, nothing), remove(nothing),
	}},
	{name: "addresses deleted", steps: []step{
		raise(raised), by(delete4, isUp+only6+guard), raise(raised),
		by(delete6, isUp+only4+guard), raise(raised),
	}},
	{name: "address preferred", steps: []step{
		raise(raised), by(readd6, isUp+only4+"  address 2001:db8::53/128 preferred\n"+guard),
		raise(raised),
	}},
	{name: "route deleted", steps: []step{
		raise(raised), by(deleteGuard, isUp+only4+only6), ensure(raised),
		by(deleteGuard, isUp+only4+only6), raise(raised),
	}},
	{name: "leftover adopted", steps: []step{
		add("", "recuse:dns", isUp), by(addBoth, isUp+only4+"  address 2001:db8::53/128 preferred\n"),
		ensure(isUp + only4 + "  address 2001:db8::53/128 preferred\n" + guard),
		lower(lowered), raise(raised), remove(nothing),
	}},
	{name: "leftover with addresses of an earlier configuration", steps: []step{
		raise(raised), by(addOld, isUp+only4+"  address 192.0.2.54/32\n"+only6+
			"  address 2001:db8::54/128 preferred\n"+guard),
		adopt(raised), lower(lowered), adopt(lowered), remove(nothing),
	}},
	{name: "nothing to adopt", steps: []step{adopt(isDown + guard)}},
	{name: "foreign link not adopted", steps: []step{
		add("", "", theirs), by(addOld, theirs+"  address 192.0.2.54/32\n  address 2001:db8::54/128 preferred\n"),
		adopt(theirs + "  address 192.0.2.54/32\n  address 2001:db8::54/128 preferred\n").
			fails(netlinkx.ErrForeign),
	}},
	{name: "existing, other addresses are not ours", kind: netlinkx.KindExisting, steps: []step{
		add("", "", theirs), by(func(s subject) { s.AddAddress(old4) }, theirs+"  address 192.0.2.54/32\n"),
		adopt(theirs + "  address 192.0.2.54/32\n" + guard),
	}},
	{name: "link without alias", steps: []step{
		add("", "", theirs),
		ensure(theirs).fails(netlinkx.ErrForeign), raise(theirs).fails(netlinkx.ErrForeign),
		lower(theirs).fails(netlinkx.ErrForeign), remove(theirs),
	}},
	{name: "link of another service", steps: []step{
		add("", "recuse:web", "link anycast0 KIND up \"recuse:web\"\n"),
		raise("link anycast0 KIND up \"recuse:web\"\n").fails(netlinkx.ErrForeign),
		remove("link anycast0 KIND up \"recuse:web\"\n"),
	}},
	{name: "link of another kind", needs: netlinkx.KindBridge, steps: []step{
		add("bridge", "recuse:dns", "link anycast0 bridge up \"recuse:dns\"\n"),
		raise("link anycast0 bridge up \"recuse:dns\"\n").fails(netlinkx.ErrForeign),
		remove("link anycast0 bridge up \"recuse:dns\"\n"),
	}},
	{name: "replaced by a foreign link", steps: []step{
		raise(raised), by(subject.DeleteLink, guard), add("", "", theirs+guard),
		raise(theirs + guard).fails(netlinkx.ErrForeign), remove(theirs),
	}},
	{name: "bridge", kind: netlinkx.KindBridge, needs: netlinkx.KindBridge, steps: []step{
		ensure("link anycast0 bridge down \"recuse:dns\"\n" + guard),
		raise("link anycast0 bridge up \"recuse:dns\"\n" + only4 + only6 + guard),
		lower("link anycast0 bridge down \"recuse:dns\"\n" + only4 + guard),
		raise("link anycast0 bridge up \"recuse:dns\"\n" + only4 + only6 + guard),
		remove(nothing),
	}},
	{name: "existing", kind: netlinkx.KindExisting, steps: []step{
		add("", "", theirs), ensure(theirs + guard), raise(theirs + only4 + only6 + guard),
		lower(theirs + guard), raise(theirs + only4 + only6 + guard), remove(theirs),
	}},
	{name: "existing, set down by hand", kind: netlinkx.KindExisting, steps: []step{
		add("", "", theirs), raise(theirs + only4 + only6 + guard),
		by(subject.SetDown, "link anycast0 KIND down \"\"\n"+only4+guard),
		raise("link anycast0 KIND down \"\"\n" + only4 + only6 + guard),
		by(subject.SetUp, theirs+only4+only6+guard), lower(theirs + guard),
	}},
	{name: "existing, missing", kind: netlinkx.KindExisting, steps: []step{
		ensure(nothing).fails(netlinkx.ErrNoLink), raise(nothing).fails(netlinkx.ErrNoLink),
		lower(nothing), remove(nothing),
	}},
}
