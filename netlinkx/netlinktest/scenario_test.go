package netlinktest

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/netlinkx"
)

// subject is what a scenario works on: a Fake or a Box.
type subject interface {
	holder
	operatorHooks
	String() string
}

// holder is the part that the agent uses.
type holder interface {
	Lock() error
	Observe() (netlinkx.State, error)
	Ensure() error
	Raise() error
	Lower() error
	Remove() error
}

// operatorHooks is the part that an operator does.
type operatorHooks interface {
	SetUp()
	SetDown()
	DeleteLink()
	AddLink(kind, alias string)
	AddAddress(netip.Prefix)
	DeleteAddress(netip.Prefix)
	DeleteGuard(netip.Prefix)
}

var (
	v4 = netip.MustParsePrefix("192.0.2.53/32")
	v6 = netip.MustParsePrefix("2001:db8::53/128")
)

// config returns the configuration of the scenarios.
func config(kind string) netlinkx.Config {
	return netlinkx.Config{Service: "dns", Link: "anycast0", Kind: kind,
		Addresses: []netip.Prefix{v4, v6}}
}

// The renderings of the states that scenarios come to; KIND is replaced.
const (
	nothing  = ""
	guard    = "unreachable 2001:db8::53/128\n"
	made     = "link anycast0 KIND down \"recuse:dns\"\n" + guard
	raised   = "link anycast0 KIND up \"recuse:dns\"\n" + both + guard
	lowered  = "link anycast0 KIND down \"recuse:dns\"\n" + only4 + guard
	both     = only4 + only6
	only4    = "  address 192.0.2.53/32\n"
	only6    = "  address 2001:db8::53/128\n"
	foreign  = "link anycast0 KIND down \"\"\n"
	stranger = "link anycast0 KIND down \"recuse:web\"\n"
)

// step is something done to a subject, and what comes of it.
type step struct {
	do   string // for people
	run  func(s subject) error
	want string // the state afterwards, rendered
	err  error  // the error wanted, if any
}

// The steps that the agent takes.
var (
	ensure = subject.Ensure
	raise  = subject.Raise
	lower  = subject.Lower
	remove = subject.Remove
)

// by makes a step's run of an operator's hook.
func by(hook func(s subject)) func(subject) error {
	return func(s subject) error { hook(s); return nil }
}

// scenarios are run on the fake and on the kernel.
var scenarios = []struct {
	name  string
	kind  string // "" for the kind that the kernel can make
	steps []step
}{
	{name: "life", steps: []step{
		{"ensure", ensure, made, nil},
		{"raise", raise, raised, nil},
		{"lower", lower, lowered, nil},
		{"raise again", raise, raised, nil},
		{"remove", remove, nothing, nil},
	}},
}

// TestScenarios runs each scenario on the fake and on the kernel: the same
// steps must lead to the same states and the same errors.
func TestScenarios(t *testing.T) {
	for _, tt := range scenarios {
		t.Run(tt.name+"/simulated", func(t *testing.T) {
			kind := tt.kind
			if kind == "" {
				kind = netlinkx.KindDummy
			}
			runScenario(t, NewFake(t, config(kind)), kind, tt.steps)
		})
		t.Run(tt.name+"/kernel", func(t *testing.T) {
			NewNS(t)
			kind := tt.kind
			if kind == "" {
				kind = Kind(t)
			}
			runScenario(t, NewBox(t, config(kind)), kind, tt.steps)
		})
	}
}

// runScenario takes the steps and compares the states.
func runScenario(t *testing.T, s subject, kind string, steps []step) {
	if err := s.Lock(); err != nil {
		t.Fatalf("failed to lock: %v", err)
	}
	for _, st := range steps {
		err := st.run(s)
		if !errors.Is(err, st.err) {
			t.Fatalf("%s: unexpected error: got %v, want %v", st.do, err, st.err)
		}
		want := replaceKind(st.want, kind)
		if diff := cmp.Diff(want, s.String()); diff != "" {
			t.Fatalf("%s: unexpected state (-want +got):\n%s", st.do, diff)
		}
	}
}

// replaceKind puts the kind tested with into a rendering.
func replaceKind(s, kind string) string { return strings.ReplaceAll(s, "KIND", kind) }
