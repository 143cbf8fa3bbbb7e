package netlinkx

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
)

// TestConflicts states which addresses of a box collide with a service's.
func TestConflicts(t *testing.T) {
	links := []netlink.Link{
		&netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: 1, Name: "lo"}},
		&netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: 2, Name: "eth0"}},
		&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Index: 3, Name: "anycast0"}},
	}
	tests := []struct {
		name  string
		addrs []netlink.Addr
		want  []string
	}{
		{"nothing", nil, nil},
		{"other subnets", []netlink.Addr{address(t, 2, "198.51.100.7/24", ""),
			address(t, 2, "2001:db8:1::7/64", ""), address(t, 2, "fe80::1/64", "")}, nil},
		{"the service's own link", []netlink.Addr{address(t, 3, "192.0.2.53/32", ""),
			address(t, 3, "192.0.2.1/24", "")}, nil},
		{"loopback's own", []netlink.Addr{address(t, 1, "127.0.0.1/8", ""), address(t, 1, "::1/128", "")}, nil},
		{"another host route", []netlink.Addr{address(t, 2, "192.0.2.54/32", "")}, nil},
		{"link gone meanwhile", []netlink.Addr{address(t, 9, "192.0.2.1/24", "")}, nil},
		{"in a subnet", []netlink.Addr{address(t, 2, "192.0.2.7/24", "")}, []string{
			`192.0.2.53/32 lies in the subnet 192.0.2.0/24 of link "eth0", whose hosts reach it without ` +
				`a route, so withdrawing it would do nothing; choose an address outside every connected subnet`}},
		{"in an IPv6 subnet", []netlink.Addr{address(t, 2, "2001:db8::7/64", "")}, []string{
			`2001:db8::53/128 lies in the subnet 2001:db8::/64 of link "eth0", whose hosts reach it without ` +
				`a route, so withdrawing it would do nothing; choose an address outside every connected subnet`}},
		{"in a loopback's subnet", []netlink.Addr{address(t, 1, "192.0.2.1/25", "")}, []string{
			`192.0.2.53/32 lies in the subnet 192.0.2.0/25 of link "lo", whose hosts reach it without ` +
				`a route, so withdrawing it would do nothing; choose an address outside every connected subnet`}},
		{"the same, as a host", []netlink.Addr{address(t, 1, "192.0.2.53/32", ""), address(t, 2, "2001:db8::53/128", "")},
			[]string{
				`192.0.2.53/32 is also an address of link "lo", so withdrawing it would not stop this box ` +
					`from answering; remove it there`,
				`2001:db8::53/128 is also an address of link "eth0", so withdrawing it would not stop this ` +
					`box from answering; remove it there`}},
		{"the same, in its subnet", []netlink.Addr{address(t, 2, "192.0.2.53/24", "")}, []string{
			`192.0.2.53/32 is also an address of link "eth0", so withdrawing it would not stop this box ` +
				`from answering; remove it there`}},
		{"behind a peer", []netlink.Addr{address(t, 2, "198.51.100.1/32", "192.0.2.0/26")}, []string{
			`192.0.2.53/32 lies in the subnet 192.0.2.0/26 of link "eth0", whose hosts reach it without ` +
				`a route, so withdrawing it would do nothing; choose an address outside every connected subnet`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range conflicts(testConfig().Addresses, ownedBy(links, tt.addrs, []Config{{Service: "dns", Link: "anycast0"}})) {
				got = append(got, c.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected conflicts (-want +got):\n%s", diff)
			}
		})
	}
}
