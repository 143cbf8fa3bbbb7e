package netlinkx_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

// TestWayTo asks the kernel of a box with one link, a gateway and a route that
// refuses.
func TestWayTo(t *testing.T) {
	netlinktest.NewNS(t)
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "lan0"
	must(t, netlink.LinkAdd(&netlink.GenericLink{LinkAttrs: attrs, LinkType: netlinktest.Kind(t)}))
	link, err := netlink.LinkByName("lan0")
	must(t, err)
	must(t, netlink.LinkSetUp(link))
	for _, a := range []string{"198.51.100.11/24", "2001:db8:1::11/64"} {
		address, err := netlink.ParseAddr(a)
		must(t, err)
		must(t, netlink.AddrAdd(link, address))
	}
	must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index,
		Dst: netOf("203.0.113.0/24"), Gw: net.ParseIP("198.51.100.1")}))
	must(t, netlink.RouteAdd(&netlink.Route{Dst: netOf("192.0.2.0/24"), Type: 7})) // unreachable

	addr := netip.MustParseAddr
	tests := []struct {
		to   string
		want netlinkx.Way
	}{
		{"198.51.100.1", netlinkx.Way{Link: "lan0", Source: addr("198.51.100.11")}},
		{"203.0.113.9", netlinkx.Way{Link: "lan0", Gateway: addr("198.51.100.1"), Source: addr("198.51.100.11")}},
		{"198.51.100.11", netlinkx.Way{Link: "lo", Source: addr("198.51.100.11"), Local: true}},
		{"2001:db8:1::1", netlinkx.Way{Link: "lan0", Source: addr("2001:db8:1::11")}},
		{"192.0.2.1", netlinkx.Way{}},
		{"10.0.0.1", netlinkx.Way{}},
		{"2001:db8:2::1", netlinkx.Way{}},
		{"fe80::1%none0", netlinkx.Way{}},
	}
	for _, tt := range tests {
		got, err := netlinkx.WayTo(addr(tt.to))
		if noWay := tt.want == (netlinkx.Way{}); errors.Is(err, netlinkx.ErrNoWay) != noWay || !noWay && err != nil {
			t.Errorf("%s: unexpected error: %v", tt.to, err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s: unexpected way (-want +got):\n%s", tt.to, diff)
		}
	}
}

// netOf is a prefix as package net spells it.
func netOf(text string) *net.IPNet {
	p := netip.MustParsePrefix(text)
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
