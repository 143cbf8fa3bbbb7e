package bgp

import (
	"net/netip"
	"time"
)

// State is where a peer's session stands (RFC 4271, section 8.2.2). Connect
// stands for all of reaching the router, the waits between dials included.
type State uint8

// The states, in the order in which a session passes them.
const (
	Idle State = iota
	Connect
	OpenSent
	OpenConfirm
	Established
)

// String returns the state in capitals, as routers print it.
func (s State) String() string {
	switch s {
	case Idle:
		return "IDLE"
	case Connect:
		return "CONNECT"
	case OpenSent:
		return "OPENSENT"
	case OpenConfirm:
		return "OPENCONFIRM"
	case Established:
		return "ESTABLISHED"
	}
	return "UNKNOWN"
}

// PeerState is what is known of a peer at one moment.
type PeerState struct {
	Address netip.Addr
	ASN     uint32
	// State is a State's text, "IDLE" to "ESTABLISHED".
	State string
	// Since is when State began.
	Since time.Time
	// LastError says in words why there is no session, or why routes of one
	// family are withheld in spite of one. Empty: nothing is wrong.
	LastError string
	// RouterID is the router's identifier, once it said it.
	RouterID netip.Addr
	// Sent are the prefixes that the router has been given and not withdrawn
	// in this session, sorted: their UPDATE is written to its socket.
	Sent []netip.Prefix
	// Seen are the routes of other nodes that the router sends us now, told
	// by their mark, sorted by prefix, then node.
	Seen []Seen
	// Gone are the prefixes of which the router has shown another node's full
	// announcement in this session and shows none now, sorted: its own word,
	// not a silence.
	Gone []netip.Prefix
	// Marked says that the router has ever sent a route with a valid mark,
	// ours included: so it sends routes back and leaves large communities be.
	Marked bool
	// Unmarked says that the router sends a route to a prefix of Sent that bears
	// no valid mark: it strips large communities, or somebody announces the
	// prefix without one.
	Unmarked bool
	// EndOfRIB is when the router had sent all that it had at the start of
	// this session. Zero: not yet, or no session. See quietRIB.
	EndOfRIB time.Time
	// BFD is what stands beside the session; nil: none is configured.
	BFD *BFDState
}

// Seen is one route of another node.
type Seen struct {
	Prefix netip.Prefix
	// Node is the router-id in the mark.
	Node netip.Addr
	// Depreferred says that the node made it a second choice.
	Depreferred bool
}
