package bgp

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawRoutes is a small set out of few prefixes, so that sets overlap.
func drawRoutes(t *rapid.T) routeSet {
	pool := []string{"10.1.9.53/32", "10.1.9.54/32", "10.1.0.0/16", "2001:db8:9::53/128", "2001:db8::/32"}
	set := routeSet{}
	for _, p := range pool {
		if rapid.Bool().Draw(t, "in") {
			set[netip.MustParsePrefix(p)] = rapid.Bool().Draw(t, "depreferred")
		}
	}
	return set
}

// What diff returns turns one set into the other, with nothing to spare, and
// then there is no difference left.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		have, want := drawRoutes(t), drawRoutes(t)
		withdraw, announce := diff(have, want)
		for _, p := range withdraw {
			if _, ok := have[p]; !ok {
				t.Fatalf("%s is withdrawn and was not announced", p)
			}
			delete(have, p)
		}
		for _, r := range announce {
			if was, ok := have[r.Prefix]; ok && was == r.Depreferred {
				t.Fatalf("%s is announced again unchanged", r.Prefix)
			}
			if slices.Contains(withdraw, r.Prefix) {
				t.Fatalf("%s is withdrawn between", r.Prefix)
			}
			have[r.Prefix] = r.Depreferred
		}
		if w, a := diff(have, want); len(w)+len(a) > 0 {
			t.Fatalf("a difference is left: %v %v", w, a)
		}
	})
}

func TestNewRouteSet(t *testing.T) {
	p := netip.MustParsePrefix("10.1.9.53/32")
	tests := []struct {
		name   string
		routes []Route
		want   string
	}{
		{"none", nil, ""},
		{"twice the same", []Route{{p, true}, {p, true}}, ""},
		{"twice, differently", []Route{{p, true}, {p, false}}, "failed to announce 10.1.9.53/32: named twice, once depreferred and once not"},
		{"not masked", []Route{{netip.MustParsePrefix("10.1.9.53/24"), false}}, "failed to announce 10.1.9.53/24: not a masked IPv4 or IPv6 prefix"},
		{"zero", []Route{{}}, "failed to announce invalid Prefix: not a masked IPv4 or IPv6 prefix"},
		{"IPv4 in IPv6", []Route{{netip.MustParsePrefix("::ffff:10.0.0.0/104"), false}}, "failed to announce ::ffff:10.0.0.0/104: not a masked IPv4 or IPv6 prefix"},
	}
	for _, tt := range tests {
		got := ""
		if _, err := newRouteSet(tt.routes); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: error %q, want %q", tt.name, got, tt.want)
		}
	}
}
