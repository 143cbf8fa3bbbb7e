package bgp

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/osrg/gobgp/v4/api"
)

func TestStatements(t *testing.T) {
	const set = "neighbour-127.1.2.3"
	v4 := []*api.Family{{Afi: api.Family_AFI_IP, Safi: api.Family_SAFI_UNICAST}}
	full := func(a *api.Actions) *api.Statement {
		return &api.Statement{Name: set + "-v4-false", Actions: a, Conditions: &api.Conditions{
			NeighborSet: &api.MatchSet{Type: api.MatchSet_TYPE_ANY, Name: set}, AfiSafiIn: v4,
			LocalPrefEq: &api.LocalPrefEq{Value: 100}}}
	}
	second := func(a *api.Actions) *api.Statement {
		return &api.Statement{Name: set + "-v4-true", Actions: a, Conditions: &api.Conditions{
			NeighborSet: &api.MatchSet{Type: api.MatchSet_TYPE_ANY, Name: set}, AfiSafiIn: v4}}
	}
	hop := &api.NexthopAction{Address: "10.1.1.11"}
	med := func(v int64) *api.MedAction {
		return &api.MedAction{Type: api.MedAction_TYPE_REPLACE, Value: v}
	}
	accept := api.RouteAction_ROUTE_ACTION_ACCEPT
	only4 := hops{v4: netip.MustParseAddr("10.1.1.11")}
	extra, err := parseCommunities([]string{"65000:99", "65000:9:9"})
	if err != nil {
		t.Fatal(err)
	}
	added := func(s string) *api.CommunityAction {
		return &api.CommunityAction{Type: api.CommunityAction_TYPE_ADD, Communities: []string{s}}
	}
	plain := cmpopts.IgnoreUnexported(api.Statement{}, api.Conditions{}, api.Actions{}, api.MatchSet{}, api.Family{},
		api.LocalPrefEq{}, api.NexthopAction{}, api.MedAction{}, api.AsPrependAction{}, api.CommunityAction{})
	tests := []struct {
		name string
		t    terms
		want []*api.Statement
	}{
		{"no next hop, no route", terms{external: true, asn: 65011}, nil},
		{"eBGP", terms{external: true, asn: 65011, deprefer: Deprefer{3, 1000}, hops: only4}, []*api.Statement{
			full(&api.Actions{RouteAction: accept, Nexthop: hop, Med: med(0)}),
			second(&api.Actions{RouteAction: accept, Nexthop: hop, Med: med(1000), AsPrepend: &api.AsPrependAction{Asn: 65011, Repeat: 3}})}},
		{"eBGP without prepend", terms{external: true, asn: 65011, hops: only4}, []*api.Statement{
			full(&api.Actions{RouteAction: accept, Nexthop: hop, Med: med(0)}),
			second(&api.Actions{RouteAction: accept, Nexthop: hop, Med: med(0)})}},
		{"iBGP", terms{asn: 65011, deprefer: Deprefer{3, 1000}, hops: only4, extra: extra}, []*api.Statement{
			full(&api.Actions{RouteAction: accept, Nexthop: hop, Community: added("65000:99"), LargeCommunity: added("65000:9:9")}),
			second(&api.Actions{RouteAction: accept, Nexthop: hop, Community: added("65000:99"), LargeCommunity: added("65000:9:9")})}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.t.statements(set), plain); diff != "" {
				t.Errorf("unexpected statements (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a neighbour nothing leaves, and with one only to it.
func TestPolicies(t *testing.T) {
	none := policies(nil)
	if got := none.Policies[1].Statements; len(got) != 0 {
		t.Errorf("statements for nobody: %v", got)
	}
	two := policies(map[netip.Addr]terms{
		netip.MustParseAddr("127.1.2.4"): {hops: hops{v4: netip.MustParseAddr("10.1.1.11")}},
		netip.MustParseAddr("127.1.2.3"): {hops: hops{v6: netip.MustParseAddr("2001:db8::11")}},
	})
	var got []string
	for _, s := range two.Policies[1].Statements {
		got = append(got, s.Name)
	}
	want := []string{"neighbour-127.1.2.3-v6-false", "neighbour-127.1.2.3-v6-true",
		"neighbour-127.1.2.4-v4-false", "neighbour-127.1.2.4-v4-true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected statements (-want +got):\n%s", diff)
	}
	for _, a := range assignments() {
		if a.DefaultAction != api.RouteAction_ROUTE_ACTION_REJECT {
			t.Errorf("direction %s: default is %s", a.Direction, a.DefaultAction)
		}
	}
}
