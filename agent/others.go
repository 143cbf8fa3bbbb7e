package agent

import (
	"net/netip"
	"slices"
	"time"
)

// silenceCounts is how long after its End-of-RIB a router's silence about a
// prefix counts as word that nobody serves it.
const silenceCounts = 3 * time.Second

// OthersKnown says what is known of the other nodes of a service.
type OthersKnown uint8

// What is known of the others.
const (
	// OthersUnknown: too little has been heard.
	OthersUnknown OthersKnown = iota
	// NobodyServes: some router that would tell shows nobody for a prefix.
	NobodyServes
	// OthersServe: every router shows another node's full announcement of
	// every prefix.
	OthersServe
)

// String names it for logs and status.
func (k OthersKnown) String() string {
	return [...]string{"unknown", "nobody", "seen"}[k]
}

// Heard is what one established peer has sent about the service's prefixes.
type Heard struct {
	// EndOfRIB is when the peer had sent all it knew; zero if it has not.
	EndOfRIB time.Time
	// Marked tells that the peer has ever sent a route with a mark, so that its
	// silence means something.
	Marked bool
	// Full are the router-ids of other nodes, by the prefix that they announce
	// fully.
	Full map[netip.Prefix][]netip.Addr
	// Gone are the prefixes that it has shown another node to announce fully,
	// in this session, and shows nobody to announce now.
	Gone []netip.Prefix
}

// Others is the view of the other nodes at one moment.
type Others struct {
	Known OthersKnown
	// Nodes are the router-ids of all that were seen, sorted.
	Nodes []netip.Addr
	// Wake is when silence will count that does not yet; zero for never.
	Wake time.Time
}

// Look judges what the established peers have sent about the prefixes that
// this node announces (design section 3). Others serve only if every peer shows
// them for every prefix; nobody serves if one peer shows none for one prefix,
// and its silence counts or it has taken back what it showed. A withdrawal is
// no silence: it is believed at once, however young the session.
func Look(now time.Time, peers []Heard, prefixes []netip.Prefix) Others {
	var o Others
	everywhere, nobody := len(peers) > 0 && len(prefixes) > 0, false
	for _, p := range peers {
		counts := p.EndOfRIB.Add(silenceCounts)
		for _, prefix := range prefixes {
			if nodes := p.Full[prefix]; len(nodes) > 0 {
				o.Nodes = append(o.Nodes, nodes...)
				continue
			}
			everywhere = false
			switch {
			case slices.Contains(p.Gone, prefix):
				nobody = true
			case !p.Marked || p.EndOfRIB.IsZero():
			case now.Before(counts):
				o.Wake = earliest(o.Wake, counts)
			default:
				nobody = true
			}
		}
	}
	slices.SortFunc(o.Nodes, netip.Addr.Compare)
	o.Nodes = slices.Compact(o.Nodes)
	switch {
	case everywhere:
		o.Known = OthersServe
	case nobody:
		o.Known = NobodyServes
	}
	return o
}
