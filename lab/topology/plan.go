package topology

import (
	"fmt"
	"net/netip"
)

// segment is one of the three bridged networks.
type segment struct {
	name   string // bridge in the switch namespace
	device string // interface in the hosts
	net    byte   // 10.net.0.0/24 and 2001:db8:net::/64
}

// The segments: clients, nodes, and what stands for the internet.
var (
	clientNet = segment{name: "clients", device: "cl0", net: 50}
	nodeNet   = segment{name: "lan", device: "lan0", net: 60}
	wideNet   = segment{name: "wan", device: "wan0", net: 70}
	resortNet = segment{name: "resort", device: "resort0", net: 80} // of the last resort
)

// Host numbers within a segment. Routers are 1 and 2 on each of them.
const (
	clientHost   = 100
	firstNode    = 11
	internetHost = 53
	lanHost      = 54
	resortHost   = 53
)

// MaxNodes is how many nodes one lab can hold: host numbers end there.
const MaxNodes = 80

// MaxClients is how many addresses may ask: host numbers end there.
const MaxClients = 150

// RouterASN is the lab's routers' AS; node i speaks as FirstNodeASN+i.
const (
	RouterASN    = 65000
	FirstNodeASN = 65011
)

// v4 is the host's IPv4 address on the segment.
func (s segment) v4(host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, s.net, 0, byte(host)})
}

// v6 is the host's IPv6 address on the segment; the host number is written in
// decimal, as a person would.
func (s segment) v6(host int) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("2001:db8:%d::%d", s.net, host))
}

// addresses are both of the host's addresses on the segment.
func (s segment) addresses(host int) []netip.Prefix {
	return []netip.Prefix{netip.PrefixFrom(s.v4(host), 24), netip.PrefixFrom(s.v6(host), 64)}
}

// DefaultAddresses are the service addresses of a lab that names none.
func DefaultAddresses() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.9.9.53/32"),
		netip.MustParsePrefix("2001:db8:9::53/128"),
	}
}
