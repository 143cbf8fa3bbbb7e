package agent

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLook judges what the routers of two families have sent.
func TestLook(t *testing.T) {
	node := netip.MustParseAddr("198.51.100.12")
	both := []netip.Prefix{addr4, addr6}
	full := func(of ...netip.Prefix) map[netip.Prefix][]netip.Addr {
		m := map[netip.Prefix][]netip.Addr{}
		for _, p := range of {
			m[p] = []netip.Addr{node}
		}
		return m
	}
	old := t0.Add(-time.Minute)
	shows := Heard{EndOfRIB: old, Marked: true, Full: full(both...)}
	nobody := Heard{EndOfRIB: old, Marked: true}
	half := Heard{EndOfRIB: old, Marked: true, Full: full(addr4)}
	young := Heard{EndOfRIB: t0.Add(-time.Second), Marked: true}
	silent := Heard{Marked: true}
	tookBack := Heard{Marked: true, Gone: both}
	tests := []struct {
		name  string
		peers []Heard
		want  OthersKnown
		wake  time.Duration // after now; zero: never
	}{
		{"no session", nil, OthersUnknown, 0},
		{"seen", []Heard{shows}, OthersServe, 0},
		{"not seen", []Heard{nobody}, NobodyServes, 0},
		{"one family", []Heard{half}, NobodyServes, 0},
		{"by one router of two", []Heard{shows, nobody}, NobodyServes, 0},
		{"never a mark", []Heard{{EndOfRIB: old}}, OthersUnknown, 0},
		{"too young", []Heard{young}, OthersUnknown, 2 * time.Second},
		{"no End-of-RIB yet", []Heard{silent}, OthersUnknown, 0},
		{"taken back before End-of-RIB", []Heard{tookBack}, NobodyServes, 0},
		{"taken back by one router of two", []Heard{shows, tookBack},
			NobodyServes, 0},
		{"one family taken back", []Heard{{Marked: true, Full: full(addr4),
			Gone: []netip.Prefix{addr6}}}, NobodyServes, 0},
		{"another service's prefix taken back", []Heard{{Marked: true,
			Gone: []netip.Prefix{prefixOf("203.0.113.1/32")}}},
			OthersUnknown, 0},
	}
	for _, tt := range tests {
		got := Look(t0, tt.peers, both)
		if got.Known != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got.Known, tt.want)
		}
		var want time.Time
		if tt.wake > 0 {
			want = t0.Add(tt.wake)
		}
		if diff := cmp.Diff(want, got.Wake); diff != "" {
			t.Errorf("%s: unexpected wake (-want +got):\n%s", tt.name, diff)
		}
	}
}
