package topology

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Prefixes and hops of the tests.
const (
	prefix4 = "10.9.9.53/32"
	prefix6 = "2001:db8:9::53/128"
)

// message is one message of the kernel about a route.
type message struct {
	kind   uint16
	prefix string
	metric int
	table  int
	hops   []string
}

// added and deleted make messages about the main table.
func added(prefix string, metric int, hops ...string) message {
	return message{unix.RTM_NEWROUTE, prefix, metric, unix.RT_TABLE_MAIN, hops}
}

func deleted(prefix string, metric int, hops ...string) message {
	return message{unix.RTM_DELROUTE, prefix, metric, unix.RT_TABLE_MAIN, hops}
}

// route is the message as the library hands it over: one hop as a gateway,
// several as a multipath.
func (m message) route() *netlink.Route {
	r := &netlink.Route{Priority: m.metric, Table: m.table}
	if m.prefix != "" {
		r.Dst = ipNet(netip.MustParsePrefix(m.prefix))
	}
	if len(m.hops) == 1 {
		r.Gw = net.ParseIP(m.hops[0])
	}
	if len(m.hops) > 1 {
		for _, h := range m.hops {
			r.MultiPath = append(r.MultiPath, &netlink.NexthopInfo{Gw: net.ParseIP(h)})
		}
	}
	return r
}

func TestTable(t *testing.T) {
	tests := []struct {
		name     string
		messages []message
		prefix   string
		want     []string
	}{
		{"empty", nil, prefix4, nil},
		{"one hop", []message{added(prefix4, 20, "10.60.0.11")}, prefix4, []string{"10.60.0.11"}},
		{"several, sorted", []message{added(prefix4, 20, "10.60.0.12", "10.60.0.11")}, prefix4,
			[]string{"10.60.0.11", "10.60.0.12"}},
		{"replaced", []message{added(prefix4, 20, "10.60.0.12", "10.60.0.11"), added(prefix4, 20, "10.60.0.12")},
			prefix4, []string{"10.60.0.12"}},
		{"deleted", []message{added(prefix4, 20, "10.60.0.11"), deleted(prefix4, 20, "10.60.0.11")}, prefix4, nil},
		{"deleted without saying via whom", []message{added(prefix4, 20, "10.60.0.11"), deleted(prefix4, 20)}, prefix4, nil},
		{"deleted that never was", []message{deleted(prefix4, 20, "10.60.0.11")}, prefix4, nil},
		{"one of several IPv6 hops deleted", []message{
			added(prefix6, 20, "2001:db8:60::11", "2001:db8:60::12"), deleted(prefix6, 20, "2001:db8:60::11")},
			prefix6, []string{"2001:db8:60::12"}},
		{"all of several IPv6 hops deleted", []message{
			added(prefix6, 20, "2001:db8:60::11", "2001:db8:60::12"),
			deleted(prefix6, 20, "2001:db8:60::11", "2001:db8:60::12")}, prefix6, nil},
		{"a last resort waits behind", []message{added(prefix4, 4194304000, "10.80.0.2"), added(prefix4, 20, "10.60.0.11")},
			prefix4, []string{"10.60.0.11"}},
		{"a last resort takes over", []message{added(prefix4, 4194304000, "10.80.0.2"), added(prefix4, 20, "10.60.0.11"),
			deleted(prefix4, 20, "10.60.0.11")}, prefix4, []string{"10.80.0.2"}},
		{"another prefix", []message{added("10.9.9.54/32", 20, "10.60.0.11")}, prefix4, nil},
		{"another table", []message{{unix.RTM_NEWROUTE, prefix4, 20, 153, []string{"10.60.0.11"}}}, prefix4, nil},
		{"a route without a destination", []message{added("", 0, "10.60.0.1")}, prefix4, nil},
		{"connected, no hop", []message{added("10.60.0.0/24", 0)}, "10.60.0.0/24", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := table{}
			for _, m := range tt.messages {
				got.apply(m.kind, m.route())
			}
			var hops []string
			for _, h := range got.hops(netip.MustParsePrefix(tt.prefix)) {
				hops = append(hops, h.String())
			}
			if d := cmp.Diff(tt.want, hops); d != "" {
				t.Errorf("unexpected next hops (-want +got):\n%s", d)
			}
		})
	}
}

// TestTableVia takes an IPv4 route over an IPv6 next hop (RFC 8950).
func TestTableVia(t *testing.T) {
	got := table{}
	r := added(prefix4, 20).route()
	r.Via = &netlink.Via{AddrFamily: netlink.FAMILY_V6, Addr: net.ParseIP("fe80::1")}
	p, ok := got.apply(unix.RTM_NEWROUTE, r)
	want := []netip.Addr{netip.MustParseAddr("fe80::1")}
	if d := cmp.Diff(want, got.hops(p), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); !ok || d != "" {
		t.Errorf("unexpected next hops (-want +got):\n%s", d)
	}
}
