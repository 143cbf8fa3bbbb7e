package bgp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// The last part of the mark, the large community by which nodes know each
// other's routes.
const (
	markFull        = 1937001
	markDepreferred = 1937002
)

// gracefulShutdown asks receivers to prefer any other route (RFC 8326).
const gracefulShutdown = 65535 << 16 // 65535:0

// large is a large community (RFC 8092).
type large [3]uint32

// communities are the two kinds, in the order given.
type communities struct {
	standard []uint32
	large    []large
}

// Mark returns the mark of the node with that AS and identifier, as text.
func Mark(asn uint32, routerID netip.Addr, depreferred bool) string {
	m := mark(asn, routerID, depreferred)
	return fmt.Sprintf("%d:%d:%d", m[0], m[1], m[2])
}

// mark is Mark as a value. A router-id that is not IPv4 counts as 0.
func mark(asn uint32, routerID netip.Addr, depreferred bool) large {
	var id uint32
	if a := routerID.Unmap(); a.Is4() {
		b := a.As4()
		id = binary.BigEndian.Uint32(b[:])
	}
	if depreferred {
		return large{asn, id, markDepreferred}
	}
	return large{asn, id, markFull}
}

// ParseCommunity returns an error that says what is wrong with s as a standard
// ("65000:53") or large ("65000:1:2") community, or nil.
func ParseCommunity(s string) error {
	_, err := parseCommunities([]string{s})
	return err
}

// parseCommunities sorts texts into the two kinds.
func parseCommunities(texts []string) (communities, error) {
	var c communities
	for _, s := range texts {
		parts := strings.Split(s, ":")
		bits := 32
		switch len(parts) {
		case 2:
			bits = 16
		case 3:
		default:
			return communities{}, fmt.Errorf("%q: must be two numbers (65000:53) or three (65000:1:2)", s)
		}
		var v large
		for i, p := range parts {
			n, err := strconv.ParseUint(p, 10, bits)
			if err != nil {
				return communities{}, fmt.Errorf("%q: %q must be 0 to %d", s, p, uint64(1)<<bits-1)
			}
			v[i] = uint32(n)
		}
		if bits == 16 {
			c.standard = append(c.standard, v[0]<<16|v[1])
			continue
		}
		c.large = append(c.large, v)
	}
	return c, nil
}

// checkCommunities is parseCommunities for its error alone.
func checkCommunities(texts []string) error {
	_, err := parseCommunities(texts)
	return err
}
