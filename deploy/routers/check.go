package routers

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// maxPassword is the longest TCP MD5 key, in bytes (Linux TCP_MD5SIG_MAXKEYLEN).
const maxPassword = 80

// check returns every fault of the nodes, one line each, or nil.
func check(nodes []Node) error {
	if len(nodes) == 0 {
		return errors.New("no nodes: give at least one node's configuration")
	}
	var faults []error
	seen := map[netip.Addr]string{}
	for _, n := range nodes {
		for _, err := range n.faults(nodes[0].RouterASN, nodes[0].port()) {
			faults = append(faults, fmt.Errorf("node %q: %w", n.Name, err))
		}
		if other, ok := seen[n.Address]; ok {
			faults = append(faults, fmt.Errorf(
				"node %q: session address %s is that of node %q too", n.Name, n.Address, other))
		}
		seen[n.Address] = n.Name
	}
	return errors.Join(faults...)
}

// faults returns what is wrong with one node. The router's ASN and port are those
// of the first node, which all others must share.
func (n Node) faults(routerASN uint32, port uint16) []error {
	var faults []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	add(!plainName(n.Name), "name must be letters, digits, '.', '_' and '-'")
	add(n.ASN == 0, "ASN is missing")
	add(n.RouterASN == 0, "the router's ASN is missing")
	add(n.RouterASN != routerASN,
		"the router's ASN is %d here and %d in the first node: one text is for one router", n.RouterASN, routerASN)
	add(n.port() != port,
		"the router's port is %d here and %d in the first node: one text is for one router", n.port(), port)
	add(n.TTLSecurity && n.Multihop > 1, "ttl_security and multihop exclude each other")
	add(n.Multihop < 0 || n.Multihop > 255, "multihop %d is not 0 to 255", n.Multihop)
	hold := n.holdTime()
	add(hold < 3*time.Second || hold > time.Hour || hold%time.Second != 0,
		"hold time %s is not 3s to 1h in whole seconds", hold)
	faults = append(faults, addressFaults(n.Address, n.RouterAddress)...)
	faults = append(faults, prefixFaults(n.Prefixes)...)
	faults = append(faults, passwordFaults(n.Password)...)
	return append(faults, n.BFD.faults()...)
}

// addressFaults checks the two ends of a session.
func addressFaults(node, router netip.Addr) []error {
	switch {
	case !node.IsValid():
		return []error{errors.New("session address is missing")}
	case !router.IsValid():
		return []error{errors.New("the router's session address is missing")}
	case node.Is4() != router.Is4():
		return []error{fmt.Errorf("session addresses %s and %s are of different families", node, router)}
	case node.IsLinkLocalUnicast():
		return []error{fmt.Errorf(
			"session address %s is link-local: the router's interface is not known here, use a global address", node)}
	case node == router:
		return []error{fmt.Errorf("session address %s is on both ends", node)}
	}
	return nil
}

// prefixFaults checks what a node announces.
func prefixFaults(prefixes []netip.Prefix) []error {
	if len(prefixes) == 0 {
		return []error{errors.New("announces no prefix: without a service there is nothing to let in")}
	}
	var faults []error
	for _, p := range prefixes {
		switch {
		case !p.IsValid() || p.Addr().Is4In6():
			faults = append(faults, fmt.Errorf("prefix %s is not valid", p))
		case p != p.Masked():
			faults = append(faults, fmt.Errorf("prefix %s has host bits: %s is meant", p, p.Masked()))
		case p.Bits() == 0:
			faults = append(faults, fmt.Errorf("prefix %s is the default route", p))
		}
	}
	return faults
}

// passwordFaults checks that every dialect can carry the password. The text is
// not part of the error, which may reach a log.
func passwordFaults(password string) []error {
	if len(password) > maxPassword {
		return []error{fmt.Errorf("password has %d bytes: TCP MD5 takes %d", len(password), maxPassword)}
	}
	for _, r := range password {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"\?`, r) {
			return []error{fmt.Errorf(
				"password has the character %q, which not every router takes: use printable ASCII without space, \", \\ and ?", r)}
		}
	}
	return nil
}

// faults checks the timers against what FRR 8.4, the narrowest, takes.
func (b *BFD) faults() []error {
	if b == nil {
		return nil
	}
	var faults []error
	if b.Interval < 10*time.Millisecond || b.Interval > time.Minute || b.Interval%time.Millisecond != 0 {
		faults = append(faults, fmt.Errorf("bfd interval %s is not 10ms to 60s in whole milliseconds", b.Interval))
	}
	if b.Multiplier < 2 || b.Multiplier > 255 {
		faults = append(faults, fmt.Errorf("bfd multiplier %d is not 2 to 255", b.Multiplier))
	}
	return faults
}

// plainName reports whether a name is safe in every dialect.
func plainName(name string) bool {
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._-", r):
		default:
			return false
		}
	}
	return name != ""
}
