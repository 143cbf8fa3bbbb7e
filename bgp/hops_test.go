package bgp

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// addrs parses a list of addresses.
func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func TestChooseHops(t *testing.T) {
	both := open{v4: true, v6: true}
	extended := open{v4: true, v6: true, extendedHop: true}
	named := Peer{NextHopV4: netip.MustParseAddr("10.1.1.77"), NextHopV6: netip.MustParseAddr("2001:db8::77")}
	tests := []struct {
		name         string
		peer         Peer
		local        string
		present      []netip.Addr
		open         open
		v4, v6       string // "" withheld
		errV4, errV6 string
	}{
		{name: "IPv4 session, one IPv6 address", local: "10.1.1.11", open: both,
			present: addrs("10.1.1.11", "10.1.1.12", "2001:db8::11", "fe80::1"), v4: "10.1.1.11", v6: "2001:db8::11"},
		{name: "IPv4 session, link-local only", local: "10.1.1.11", open: both, present: addrs("10.1.1.11", "fe80::1"),
			v4: "10.1.1.11", errV6: "has no global IPv6 address"},
		{name: "IPv4 session, two IPv6 addresses", local: "10.1.1.11", open: both,
			present: addrs("2001:db8::11", "fd00::11"), v4: "10.1.1.11",
			errV6: "has 2 global IPv6 addresses (2001:db8::11, fd00::11): set next_hop_v6"},
		{name: "IPv4 session, named", peer: named, local: "10.1.1.11", open: both, v4: "10.1.1.77", v6: "2001:db8::77"},
		{name: "IPv4 session seen through an IPv6 socket", local: "::ffff:10.1.1.11", open: both,
			present: addrs("2001:db8::11"), v4: "10.1.1.11", v6: "2001:db8::11"},
		{name: "IPv6 session, one IPv4 address", local: "2001:db8::11", open: both,
			present: addrs("10.1.1.11", "2001:db8::11", "2001:db8::12"), v4: "10.1.1.11", v6: "2001:db8::11"},
		{name: "IPv6 session, no IPv4", local: "2001:db8::11", open: both, present: addrs("2001:db8::11"),
			v6: "2001:db8::11", errV4: "has no global IPv4 address"},
		{name: "IPv6 session, RFC 8950", local: "2001:db8::11", open: extended, present: addrs("2001:db8::11"),
			v4: "2001:db8::11", v6: "2001:db8::11"},
		{name: "an IPv4 address goes before RFC 8950", local: "2001:db8::11", open: extended,
			present: addrs("10.1.1.11"), v4: "10.1.1.11", v6: "2001:db8::11"},
		{name: "link-local session", local: "fe80::a%e0", open: both, present: addrs("10.1.1.11", "2001:db8::11", "fe80::a"),
			v4: "10.1.1.11", v6: "fe80::a"},
		{name: "link-local session, named", peer: named, local: "fe80::a%e0", open: both, v4: "10.1.1.77", v6: "2001:db8::77"},
		{name: "router without IPv6", peer: named, local: "10.1.1.11", open: open{v4: true},
			v4: "10.1.1.77", errV6: "has not activated IPv6"},
		{name: "router without IPv4", peer: named, local: "2001:db8::11", open: open{v6: true},
			v6: "2001:db8::77", errV4: "has not activated IPv4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := chooseHops(tt.peer, netip.MustParseAddr(tt.local), tt.present, tt.open)
			check(t, "v4", h.v4, h.errV4, tt.v4, tt.errV4)
			check(t, "v6", h.v6, h.errV6, tt.v6, tt.errV6)
		})
	}
}

// check compares one family's next hop and error.
func check(t *testing.T, what string, got netip.Addr, err error, want, wantErr string) {
	t.Helper()
	if want == "" && got.IsValid() || want != "" && got != netip.MustParseAddr(want) {
		t.Errorf("%s: next hop %s, want %q", what, got, want)
	}
	if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
		t.Errorf("%s: error %v, want %q", what, err, wantErr)
	}
	if (err == nil) != got.IsValid() {
		t.Errorf("%s: next hop %s and error %v", what, got, err)
	}
}

// An error matters only for a family that has routes.
func TestWithheld(t *testing.T) {
	h := chooseHops(Peer{}, netip.MustParseAddr("10.1.1.11"), nil, open{v4: true, v6: true})
	v4, v6 := netip.MustParsePrefix("10.1.9.53/32"), netip.MustParsePrefix("2001:db8:9::53/128")
	if err := h.withheld([]netip.Prefix{v4}); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	if err := h.withheld([]netip.Prefix{v6, v4}); err == nil {
		t.Error("IPv6 routes are withheld without an error")
	}
}

func TestWithoutService(t *testing.T) {
	announced := []netip.Prefix{netip.MustParsePrefix("10.1.9.53/32"), netip.MustParsePrefix("2001:db8:9::/48")}
	tests := []struct {
		name       string
		present    []netip.Addr
		want       []netip.Addr
		announcing []netip.Prefix
	}{
		{"service addresses go", addrs("10.1.1.11", "10.1.9.53", "2001:db8:9::53", "2001:db8::1"),
			addrs("10.1.1.11", "2001:db8::1"), announced},
		{"nothing announced", addrs("10.1.9.53"), addrs("10.1.9.53"), nil},
		{"the last one stays", addrs("10.1.9.53"), addrs("10.1.9.53"), announced},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, withoutService(tt.present, tt.announcing), compareAddrs); diff != "" {
			t.Errorf("%s: unexpected addresses (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What keeps a family back before there is a session: lo has no global address
// of either family.
func TestPeerWithheld(t *testing.T) {
	four, six := netip.MustParsePrefix("192.0.2.53/32"), netip.MustParsePrefix("2001:db8:9::53/128")
	lo4, lo6 := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	tests := []struct {
		name      string
		peer      Peer
		local     netip.Addr
		announced netip.Prefix
		want      string
	}{
		{"the session's own family", Peer{Interface: "lo"}, lo4, four, ""},
		{"the other one", Peer{Interface: "lo"}, lo4, six, "set next_hop_v6"},
		{"the other one, named", Peer{Interface: "lo", NextHopV6: six.Addr()}, lo4, six, ""},
		{"IPv4 by IPv6, which the router may know", Peer{Interface: "lo"}, lo6, four, ""},
	}
	for _, tt := range tests {
		err := tt.peer.Withheld(tt.local, []netip.Prefix{tt.announced})
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: unexpected error: %v", tt.name, err)
		}
	}
}
