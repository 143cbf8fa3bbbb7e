package bgp

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/osrg/gobgp/v4/api"
)

// Names of the two policies inside GoBGP.
const (
	importPolicy = "local-only"
	exportPolicy = "to-peers"
)

// maxPrefixes is the fuse on what one router may send us, by family. Only the
// service prefixes are wanted, so the router is to filter; this bounds memory.
const maxPrefixes = 1000

// terms say what one session's routes carry beyond the common attributes.
type terms struct {
	external bool
	asn      uint32 // ours
	deprefer Deprefer
	extra    communities
	hops     hops
}

// statements returns the export policy for the neighbour in that set: one
// statement for each family and stance. A family without a next hop has none
// and falls to the default, which rejects.
func (t terms) statements(set string) []*api.Statement {
	families := []struct {
		name string
		afi  api.Family_Afi
		hop  netip.Addr
	}{
		{"v4", api.Family_AFI_IP, t.hops.v4},
		{"v6", api.Family_AFI_IP6, t.hops.v6},
	}
	var list []*api.Statement
	for _, f := range families {
		if !f.hop.IsValid() {
			continue
		}
		// The full route is told by its local preference; what is left is
		// depreferred (GoBGP has no condition "equals 0").
		for _, depreferred := range []bool{false, true} {
			s := &api.Statement{
				Name: fmt.Sprintf("%s-%s-%t", set, f.name, depreferred),
				Conditions: &api.Conditions{
					NeighborSet: &api.MatchSet{Type: api.MatchSet_TYPE_ANY, Name: set},
					AfiSafiIn:   []*api.Family{{Afi: f.afi, Safi: api.Family_SAFI_UNICAST}},
				},
				Actions: t.actions(f.hop, depreferred),
			}
			if !depreferred {
				s.Conditions.LocalPrefEq = &api.LocalPrefEq{Value: prefFull}
			}
			list = append(list, s)
		}
	}
	return list
}

// actions returns what is done to a route of one stance.
func (t terms) actions(hop netip.Addr, depreferred bool) *api.Actions {
	a := &api.Actions{
		RouteAction: api.RouteAction_ROUTE_ACTION_ACCEPT,
		Nexthop:     &api.NexthopAction{Address: hop.String()},
	}
	if len(t.extra.standard) > 0 {
		a.Community = addCommunities(t.extra.standard, func(c uint32) string {
			return fmt.Sprintf("%d:%d", c>>16, c&0xffff)
		})
	}
	if len(t.extra.large) > 0 {
		a.LargeCommunity = addCommunities(t.extra.large, func(l large) string {
			return fmt.Sprintf("%d:%d:%d", l[0], l[1], l[2])
		})
	}
	if !t.external {
		return a
	}
	a.Med = &api.MedAction{Type: api.MedAction_TYPE_REPLACE}
	if depreferred {
		a.Med.Value = int64(t.deprefer.MED)
		if t.deprefer.Prepend > 0 {
			a.AsPrepend = &api.AsPrependAction{Asn: t.asn, Repeat: uint32(t.deprefer.Prepend)}
		}
	}
	return a
}

// addCommunities returns the action that adds list, each put into text.
func addCommunities[T any](list []T, text func(T) string) *api.CommunityAction {
	a := &api.CommunityAction{Type: api.CommunityAction_TYPE_ADD}
	for _, c := range list {
		a.Communities = append(a.Communities, text(c))
	}
	return a
}

// policies returns GoBGP's whole policy configuration: of what comes in only
// our own routes reach the table, and a route leaves only by a statement made
// for that neighbour.
func policies(neighbours map[netip.Addr]terms) *api.SetPoliciesRequest {
	out := &api.Policy{Name: exportPolicy}
	r := &api.SetPoliciesRequest{Policies: []*api.Policy{importLocal(), out}}
	for _, addr := range sortedAddrs(neighbours) {
		name := "neighbour-" + addr.String()
		r.DefinedSets = append(r.DefinedSets, &api.DefinedSet{
			DefinedType: api.DefinedType_DEFINED_TYPE_NEIGHBOR,
			Name:        name,
			List:        []string{netip.PrefixFrom(addr, addr.BitLen()).String()},
		})
		out.Statements = append(out.Statements, neighbours[addr].statements(name)...)
	}
	return r
}

// importLocal accepts the paths that this process made. GoBGP applies the
// import policy to those too, so a bare default REJECT would drop them.
func importLocal() *api.Policy {
	return &api.Policy{Name: importPolicy, Statements: []*api.Statement{{
		Name:       importPolicy,
		Conditions: &api.Conditions{RouteType: api.Conditions_ROUTE_TYPE_LOCAL},
		Actions:    &api.Actions{RouteAction: api.RouteAction_ROUTE_ACTION_ACCEPT},
	}}}
}

// assignments bind the two policies, each with "reject" for all else.
func assignments() []*api.PolicyAssignment {
	return []*api.PolicyAssignment{
		{
			Name: "global", Direction: api.PolicyDirection_POLICY_DIRECTION_IMPORT,
			Policies:      []*api.Policy{{Name: importPolicy}},
			DefaultAction: api.RouteAction_ROUTE_ACTION_REJECT,
		},
		{
			Name: "global", Direction: api.PolicyDirection_POLICY_DIRECTION_EXPORT,
			Policies:      []*api.Policy{{Name: exportPolicy}},
			DefaultAction: api.RouteAction_ROUTE_ACTION_REJECT,
		},
	}
}

// neighbour returns the GoBGP side of a session with p, reached at addr on
// loopback. No graceful restart, no MD5 or TTL: the real socket has those.
func neighbour(p Peer, addr netip.Addr) *api.Peer {
	hold := uint64(p.HoldTime.Seconds())
	limit := func(afi api.Family_Afi) *api.AfiSafi {
		f := &api.Family{Afi: afi, Safi: api.Family_SAFI_UNICAST}
		return &api.AfiSafi{
			Config:       &api.AfiSafiConfig{Family: f, Enabled: true},
			PrefixLimits: &api.PrefixLimit{Family: f, MaxPrefixes: maxPrefixes},
			// A router that can show us all the others, not its best alone.
			AddPaths: &api.AddPaths{Config: &api.AddPathsConfig{Receive: true}},
		}
	}
	return &api.Peer{
		Conf:      &api.PeerConf{NeighborAddress: addr.String(), PeerAsn: p.ASN},
		Transport: &api.Transport{PassiveMode: true},
		Timers: &api.Timers{Config: &api.TimersConfig{
			HoldTime: hold, KeepaliveInterval: max(hold/3, 1),
		}},
		AfiSafis: []*api.AfiSafi{limit(api.Family_AFI_IP), limit(api.Family_AFI_IP6)},
	}
}

// sortedAddrs returns the keys of m in order.
func sortedAddrs[T any](m map[netip.Addr]T) []netip.Addr {
	list := make([]netip.Addr, 0, len(m))
	for a := range m {
		list = append(list, a)
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}
