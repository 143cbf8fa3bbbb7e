package routers

import (
	"net/netip"
	"time"
)

// defaultHoldTime is the hold time of a node that names none.
const defaultHoldTime = 9 * time.Second

// defaultPort is the port that BGP listens on (RFC 4271 section 8.2.1).
const defaultPort = 179

// BFD holds the timers of a session's BFD. Both ends use the same.
type BFD struct {
	Interval   time.Duration // between packets, in whole milliseconds
	Multiplier int           // packets that may be missed
}

// A Node is one BGP session of one node with the router that the text is for. A
// node with an IPv4 and an IPv6 session is two Nodes of the same name.
type Node struct {
	Name          string         // names the session; letters, digits, '.', '_' and '-'
	ASN           uint32         // the node's
	RouterASN     uint32         // the router's, the same in all nodes
	Address       netip.Addr     // the node's session address
	RouterAddress netip.Addr     // the router's session address
	Prefixes      []netip.Prefix // what the node may announce, of both families
	Password      string         // TCP MD5 (RFC 2385); empty is none
	TTLSecurity   bool           // GTSM (RFC 5082), one hop
	Multihop      int            // hops to the node; 0 and 1 are the same link
	HoldTime      time.Duration  // 0 is 9 s
	BFD           *BFD           // nil is none
	Port          uint16         // the port the router listens on; 0 is 179
}

// internal reports whether n's session is iBGP.
func (n Node) internal() bool { return n.ASN == n.RouterASN }

// holdTime returns n's hold time, the default filled in.
func (n Node) holdTime() time.Duration {
	if n.HoldTime == 0 {
		return defaultHoldTime
	}
	return n.HoldTime
}

// port returns the port that the router listens on, the default filled in.
func (n Node) port() uint16 {
	if n.Port == 0 {
		return defaultPort
	}
	return n.Port
}
