package topology

import "net/netip"

// NameOf is the name of the host behind a next hop, or the address if it is
// nobody's.
func (l *Lab) NameOf(hop netip.Addr) string {
	for _, n := range l.Nodes {
		if hop == n.V4 || hop == n.V6 {
			return n.ShortName
		}
	}
	if hop == resortNet.v4(resortHost) || hop == resortNet.v6(resortHost) {
		return "last resort"
	}
	return hop.String()
}
