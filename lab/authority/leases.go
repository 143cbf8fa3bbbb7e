package authority

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// Reverse is the zone of the addresses of a home's leases (RFC 1918, RFC 1035
// section 3.5). Only a server that was given leases has it.
const Reverse = "10.in-addr.arpa."

// MaxLeases is how many leases a server can have: 256 networks of 250 hosts.
const MaxLeases = 256 * 250

// Lease is the name and the address of lease i, from 0. Networks have 250 hosts,
// from 1 on.
func Lease(i int) (name string, address netip.Addr) {
	return fmt.Sprintf("lease-%d.%s", i, LAN), netip.AddrFrom4([4]byte{10, 20, byte(i / 250), byte(i%250 + 1)})
}

// ReverseName is the name under which an address's PTR record is.
func ReverseName(a netip.Addr) string {
	name, err := dns.ReverseAddr(a.String())
	if err != nil {
		panic(err) // an address has a reverse name
	}
	return name
}

// lease adds a table of n leases to the zones: their names to the home zone, and
// the names of their addresses to a zone of their own.
func lease(content map[string]*zone, n int) error {
	if n < 0 || n > MaxLeases {
		return fmt.Errorf("leases: %d: must be between 0 and %d", n, MaxLeases)
	}
	if n == 0 {
		return nil
	}
	reverse := &zone{apex: Reverse, ttl: popularTTL, hosts: map[string]host{}, pointers: make(map[string]string, n)}
	for i := range n {
		name, address := Lease(i)
		content[LAN].hosts[name] = host{v4: address}
		reverse.pointers[ReverseName(address)] = name
		// The names above it exist too, without records (RFC 8020): a resolver that
		// minimizes its questions asks for them on its way.
		for above := ReverseName(address); above != Reverse; {
			_, above, _ = strings.Cut(above, ".")
			reverse.hosts[above] = host{}
		}
	}
	content[Reverse] = reverse
	return nil
}
