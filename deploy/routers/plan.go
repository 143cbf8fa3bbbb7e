package routers

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// minPaths is the least ECMP width asked of a router.
const minPaths = 16

// A plan is what a router must be told, in no dialect yet.
type plan struct {
	ASN      uint32
	Port     uint16     // that the router listens on
	ID       netip.Addr // an IPv4 address of the router, if a session has one
	Paths    int        // ECMP width
	External bool       // some session is eBGP
	Internal bool       // some session is iBGP
	V4, V6   bool       // some node announces that family
	Secret   bool       // some session has a password
	Secure   bool       // some session has GTSM
	FarBFD   bool       // some eBGP session has GTSM and BFD
	Groups   []*group
	Profiles []profile
	Shared   []shared
}

// All4 are the IPv4 prefixes of all groups, each once.
func (p plan) All4() []netip.Prefix {
	return p.each(func(g *group) []netip.Prefix { return g.V4 })
}

// All6 are the IPv6 prefixes of all groups, each once.
func (p plan) All6() []netip.Prefix {
	return p.each(func(g *group) []netip.Prefix { return g.V6 })
}

// each collects the groups' prefixes.
func (p plan) each(of func(*group) []netip.Prefix) []netip.Prefix {
	var all []netip.Prefix
	for _, g := range p.Groups {
		all = append(all, of(g)...)
	}
	return sortedPrefixes(all)
}

// A group is the nodes that may announce the same prefixes by the same kind of
// session, so that they share their filters.
type group struct {
	ID       int // from 1, in the order of the prefixes
	Internal bool
	V4, V6   []netip.Prefix
	Sessions []session
}

// A session is one neighbour of the router.
type session struct {
	Node
	Label     string   // unique, of letters, digits and '_'
	Hold      int      // seconds
	Keepalive int      // seconds, a third of Hold (RFC 4271 section 10)
	Profile   *profile // nil without BFD
	Group     int      // the group's ID
	SharedAS  bool     // another node has the same ASN
}

// A profile is one set of BFD timers.
type profile struct {
	Millis     int
	Multiplier int
}

// A shared is an ASN that several nodes have.
type shared struct {
	ASN   uint32
	Names []string
}

// newPlan orders the nodes, which have been checked.
func newPlan(nodes []Node) plan {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.Address.Compare(b.Address))
	})
	p := plan{
		ASN:    nodes[0].RouterASN,
		Port:   nodes[0].port(),
		Paths:  max(minPaths, len(nodes)),
		Shared: sharedASNs(nodes),
	}
	members := map[string][]Node{}
	for _, n := range nodes {
		p.note(n)
		members[groupKey(n)] = append(members[groupKey(n)], n)
	}
	labels := map[string]bool{}
	for i, key := range slices.Sorted(maps.Keys(members)) {
		p.Groups = append(p.Groups, p.newGroup(i+1, members[key], labels))
	}
	return p
}

// note takes into the plan what one node is enough to say.
func (p *plan) note(n Node) {
	p.Internal = p.Internal || n.internal()
	p.External = p.External || !n.internal()
	p.Secret = p.Secret || n.Password != ""
	p.Secure = p.Secure || n.TTLSecurity
	p.FarBFD = p.FarBFD || n.TTLSecurity && n.BFD != nil && !n.internal()
	for _, prefix := range n.Prefixes {
		p.V4 = p.V4 || prefix.Addr().Is4()
		p.V6 = p.V6 || prefix.Addr().Is6()
	}
	if b := newProfile(n.BFD); b != nil && !slices.Contains(p.Profiles, *b) {
		p.Profiles = append(p.Profiles, *b)
		slices.SortFunc(p.Profiles, profile.compare)
	}
	if n.RouterAddress.Is4() && (!p.ID.IsValid() || n.RouterAddress.Less(p.ID)) {
		p.ID = n.RouterAddress
	}
}

// newGroup returns the group of nodes that have the same groupKey.
func (p *plan) newGroup(id int, nodes []Node, labels map[string]bool) *group {
	g := &group{ID: id, Internal: nodes[0].internal()}
	for _, prefix := range sortedPrefixes(nodes[0].Prefixes) {
		if prefix.Addr().Is4() {
			g.V4 = append(g.V4, prefix)
		} else {
			g.V6 = append(g.V6, prefix)
		}
	}
	for _, n := range nodes {
		s := newSession(n, labels)
		s.Group = id
		s.SharedAS = slices.ContainsFunc(p.Shared, func(x shared) bool { return x.ASN == n.ASN })
		g.Sessions = append(g.Sessions, s)
	}
	return g
}

// All returns the prefixes of both families, IPv4 first.
func (g *group) All() []netip.Prefix { return slices.Concat(g.V4, g.V6) }

// Fuse4 is the number of IPv4 routes that a neighbour may have accepted before
// the router complains: far enough above what the filter lets in that FRR's
// warning at 75 % stays silent.
func (g *group) Fuse4() int { return 10 + 2*len(g.V4) }

// Fuse6 is Fuse4 for IPv6.
func (g *group) Fuse6() int { return 10 + 2*len(g.V6) }

// newSession returns the session of a node, with a label of its own.
func newSession(n Node, labels map[string]bool) session {
	hold := int(n.holdTime() / time.Second)
	return session{
		Node:      n,
		Label:     newLabel(n.Name, labels),
		Hold:      hold,
		Keepalive: hold / 3,
		Profile:   newProfile(n.BFD),
	}
}

// Far reports whether an eBGP session crosses other routers. iBGP needs no word
// for that.
func (s session) Far() bool { return s.Multihop > 1 && !s.internal() }

// Reflected reports whether the router reflects this neighbour's routes.
func (s session) Reflected() bool { return s.internal() }

// Listen returns the port that the router listens on.
func (s session) Listen() uint16 { return s.port() }

// newProfile returns the timers of b, or nil for none.
func newProfile(b *BFD) *profile {
	if b == nil {
		return nil
	}
	return &profile{Millis: int(b.Interval / time.Millisecond), Multiplier: b.Multiplier}
}

// compare orders profiles by interval, then multiplier.
func (p profile) compare(o profile) int {
	return cmp.Or(cmp.Compare(p.Millis, o.Millis), cmp.Compare(p.Multiplier, o.Multiplier))
}

// maxLabel bounds the part of a name in a label: BIRD's symbols have 64 bytes.
const maxLabel = 48

// newLabel makes of a name a symbol that BIRD takes, and counts up if that is
// taken: by the node's other session, or by a name that differs in signs only.
// The prefix keeps it from being one of BIRD's words.
func newLabel(name string, labels map[string]bool) string {
	name = name[:min(len(name), maxLabel)]
	base := "recuse_" + strings.NewReplacer(".", "_", "-", "_").Replace(name)
	label := base
	for i := 2; labels[label]; i++ {
		label = fmt.Sprintf("%s_%d", base, i)
	}
	labels[label] = true
	return label
}

// groupKey is equal for nodes that share a group. eBGP comes first: FRR does not
// let a peer group hold both kinds.
func groupKey(n Node) string {
	return fmt.Sprintf("%t %v", n.internal(), sortedPrefixes(n.Prefixes))
}

// sortedPrefixes returns the prefixes sorted, each once, IPv4 first.
func sortedPrefixes(prefixes []netip.Prefix) []netip.Prefix {
	return slices.Compact(slices.SortedFunc(slices.Values(prefixes), netip.Prefix.Compare))
}

// sharedASNs returns the ASNs that more than one node outside the router's AS
// has, in the order of the ASNs. Nodes must be sorted by name.
func sharedASNs(nodes []Node) []shared {
	names := map[uint32][]string{}
	for _, n := range nodes {
		if !n.internal() && !slices.Contains(names[n.ASN], n.Name) {
			names[n.ASN] = append(names[n.ASN], n.Name)
		}
	}
	var all []shared
	for _, asn := range slices.Sorted(maps.Keys(names)) {
		if len(names[asn]) > 1 {
			all = append(all, shared{ASN: asn, Names: names[asn]})
		}
	}
	return all
}
