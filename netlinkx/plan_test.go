package netlinkx

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A link of ours, and what may be on it.
var (
	ours   = Link{Exists: true, Index: 7, Kind: KindDummy, Alias: "recuse:dns"}
	fresh4 = Address{Prefix: netip.MustParsePrefix("192.0.2.53/32"), Usable: true, Right: true}
	fresh6 = Address{Prefix: netip.MustParsePrefix("2001:db8::53/128"), Usable: true, Right: true}
	other4 = Address{Prefix: netip.MustParsePrefix("192.0.2.99/32"), Usable: true, Right: true}
	other6 = netip.MustParsePrefix("2001:db8::99/128")
)

// with returns l changed by edit.
func with(l Link, edit func(l *Link)) Link {
	edit(&l)
	return l
}

// up returns l up, with the addresses.
func up(l Link, on ...Address) Link {
	l.Up, l.Addresses = true, on
	return l
}

// render renders a plan, one step a line.
func render(ops []Op) string {
	var lines []string
	for _, o := range ops {
		lines = append(lines, o.String())
	}
	return strings.Join(lines, "\n")
}

// The steps in the words of Op.String.
const (
	addGuard = "add unreachable route to 2001:db8::53/128"
	delGuard = "delete unreachable route to 2001:db8::53/128"
	create   = `create link "anycast0"`
	mark     = `set the alias of link "anycast0"`
	setUp    = `set up link "anycast0"`
	add4     = `add address 192.0.2.53/32 on link "anycast0"`
	add6     = `add address 2001:db8::53/128 on link "anycast0"`
	renew6   = `renew address 2001:db8::53/128 on link "anycast0"`
	del4     = `delete address 192.0.2.53/32 on link "anycast0"`
	del6     = `delete address 2001:db8::53/128 on link "anycast0"`
)

// TestPlans states the plan of each operation for each state worth telling
// apart, of a link to be made and of one that exists.
func TestPlans(t *testing.T) {
	none, guarded := prefixes(), prefixes("2001:db8::53/128")
	half := Link{Exists: true, Index: 7, Kind: KindDummy, Hardware: testConfig().hardware()}
	device := Link{Exists: true, Index: 1, Kind: "device", Up: true}
	tentative, preferred := fresh6, fresh6
	tentative.Usable, preferred.Right = false, false

	tests := []struct {
		name     string
		existing bool
		link     Link
		guards   []netip.Prefix
		ensure   []string
		raise    []string // after those of ensure
		lower    []string
		remove   []string
	}{
		{name: "nothing", guards: none, ensure: []string{addGuard, create, mark},
			raise: []string{setUp, add4, add6}},
		{name: "half made", link: half, guards: guarded, ensure: []string{mark},
			raise: []string{setUp, add4, add6}, remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "made", link: ours, guards: guarded, raise: []string{setUp, add4, add6},
			remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "raised", link: up(ours, fresh4, fresh6), guards: guarded,
			lower: []string{`set down link "anycast0"`}, remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "with other things", link: up(ours, other4, fresh6, fresh4),
			guards: []netip.Prefix{other6, fresh6.Prefix},
			lower:  []string{`set down link "anycast0"`}, remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "lowered", link: with(ours, func(l *Link) { l.Addresses = []Address{fresh4} }), guards: guarded,
			raise: []string{setUp, add6}, remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "kept over down", guards: guarded,
			link:  with(ours, func(l *Link) { l.Addresses = []Address{fresh4, tentative} }),
			raise: []string{setUp, renew6}, remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "preferred, no guard", link: up(ours, fresh4, preferred), guards: none,
			ensure: []string{addGuard}, raise: []string{renew6},
			lower: []string{`set down link "anycast0"`}, remove: []string{`delete link "anycast0"`}},
		{name: "duplicate found", link: up(ours, fresh4, tentative), guards: guarded, raise: []string{renew6},
			lower: []string{`set down link "anycast0"`}, remove: []string{`delete link "anycast0"`, delGuard}},
		{name: "existing", existing: true, link: device, guards: none, ensure: []string{addGuard},
			raise: []string{add4, add6}},
		{name: "existing, raised", existing: true, link: up(device, fresh4, fresh6, other4), guards: guarded,
			lower: []string{del4, del6}, remove: []string{del4, del6, delGuard}},
		{name: "existing, down", existing: true, guards: guarded,
			link: Link{Exists: true, Kind: "device", Addresses: []Address{fresh4, tentative}},
			// Nothing makes it usable there, and trying again would never end.
			lower: []string{del4, del6}, remove: []string{del4, del6, delGuard}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := testConfig()
			if tt.existing {
				c.Kind = KindExisting
			}
			check := func(what string, want []string, ops []Op, err error) {
				t.Helper()
				if diff := cmp.Diff(strings.Join(want, "\n"), render(ops)); diff != "" || err != nil {
					t.Errorf("unexpected plan to %s, error %v (-want +got):\n%s", what, err, diff)
				}
				for _, op := range ops {
					if op.Link != "" && op.Verb != CreateLink && op.Index != tt.link.Index {
						t.Errorf("%s: goes to index %d, want %d", op, op.Index, tt.link.Index)
					}
				}
			}
			ops, err := planEnsure(c, tt.link, tt.guards)
			check("ensure", tt.ensure, ops, err)
			ops, err = planRaise(c, tt.link, tt.guards)
			check("raise", slices.Concat(tt.ensure, tt.raise), ops, err)
			ops, err = planLower(c, tt.link)
			check("lower", tt.lower, ops, err)
			check("remove", tt.remove, planRemove(c, tt.link, tt.guards), nil)
		})
	}
}

// TestForeign states which links are never touched, and what is said of them.
func TestForeign(t *testing.T) {
	way := `; choose another link.name, or delete it with "ip link delete anycast0"`
	tests := []struct {
		name string
		edit func(l *Link)
		want string
	}{
		{"no alias", func(l *Link) { l.Alias = "" },
			`link "anycast0": not ours to touch: its alias is "", not "recuse:dns"` + way},
		{"another service", func(l *Link) { l.Alias = "recuse:web" },
			`link "anycast0": not ours to touch: its alias is "recuse:web", not "recuse:dns"` + way},
		{"alias that begins so", func(l *Link) { l.Alias = "recuse:dns2" },
			`link "anycast0": not ours to touch: its alias is "recuse:dns2", not "recuse:dns"` + way},
		{"another's alias on our hardware address", func(l *Link) {
			l.Alias, l.Hardware = "recuse:web", testConfig().hardware()
		}, `link "anycast0": not ours to touch: its alias is "recuse:web", not "recuse:dns"` + way},
		{"another kind", func(l *Link) { l.Kind = KindBridge },
			`link "anycast0": not ours to touch: it is of kind bridge, not dummy; ` +
				`delete it with "ip link delete anycast0", or set kind: bridge`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, l := testConfig(), with(up(ours, fresh4, fresh6), tt.edit)
			_, errEnsure := planEnsure(c, l, nil)
			_, errRaise := planRaise(c, l, nil)
			_, errLower := planLower(c, l)
			for _, err := range []error{errEnsure, errRaise, errLower} {
				if !errors.Is(err, ErrForeign) || err.Error() != tt.want {
					t.Errorf("unexpected error:\n got %v\nwant %s", err, tt.want)
				}
			}
			if ops := planRemove(c, l, prefixes("2001:db8::53/128")); render(ops) != delGuard {
				t.Errorf("unexpected plan to remove: %v, want only the route gone", ops)
			}
		})
	}
}

// TestObserve states which addresses count as present.
func TestObserve(t *testing.T) {
	unusable := fresh6
	unusable.Usable = false
	preferred := fresh6
	preferred.Right = false
	tests := []struct {
		name string
		link Link
		want State
	}{
		{"nothing", Link{}, State{}},
		{"down", ours, State{Exists: true}},
		{"up, in order", up(ours, fresh6, other4, fresh4),
			State{Exists: true, Up: true, Present: prefixes("192.0.2.53/32", "2001:db8::53/128")}},
		{"unusable", up(ours, fresh4, unusable),
			State{Exists: true, Up: true, Present: prefixes("192.0.2.53/32")}},
		{"preferred", up(ours, preferred), State{Exists: true, Up: true, Present: prefixes("2001:db8::53/128")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			same := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
			if diff := cmp.Diff(tt.want, observe(testConfig(), tt.link), same); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		})
	}
}
