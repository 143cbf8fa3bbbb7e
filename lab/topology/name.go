package topology

import (
	"net/netip"
)

// nodeOf is the node with that address, nil if it is nobody's.
func (l *Lab) nodeOf(hop netip.Addr) *Node {
	for _, n := range l.known {
		if hop == n.V4 || hop == n.V6 {
			return n
		}
	}
	return nil
}

// Known are all nodes, those that AddNode has yet to start included.
func (l *Lab) Known() []*Node { return l.known }

// NameOf is the name of the host behind a next hop, or the address if it is
// nobody's.
func (l *Lab) NameOf(hop netip.Addr) string {
	if n := l.nodeOf(hop); n != nil {
		return n.ShortName
	}
	if hop == resortNet.v4(resortHost) || hop == resortNet.v6(resortHost) {
		return "last resort"
	}
	return hop.String()
}
