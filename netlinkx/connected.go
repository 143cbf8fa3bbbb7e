package netlinkx

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
)

// Conflict is a service address that another link makes reachable without a
// route of ours.
type Conflict struct {
	Address netip.Prefix // the service address
	Link    string       // the other link
	Subnet  netip.Prefix // its connected subnet, or the same address
}

// String says what is wrong with it and what to do.
func (c Conflict) String() string {
	if c.Subnet == c.Address {
		return fmt.Sprintf("%s is also an address of link %q, so withdrawing it would not stop "+
			"this box from answering; remove it there", c.Address, c.Link)
	}
	return fmt.Sprintf("%s lies in the subnet %s of link %q, whose hosts reach it without a "+
		"route, so withdrawing it would do nothing; choose an address outside every "+
		"connected subnet", c.Address, c.Subnet, c.Link)
}

// owned is an address, or the subnet that it connects, and its link.
type owned struct {
	subnet netip.Prefix
	link   string
}

// Connected returns the service addresses that lie inside a connected subnet of
// a link, or that a link bears, in the network namespace of the calling thread.
// The links of our services are left out: those that are named, and those that
// an earlier run made for them under another name. A link that is down counts, since it may come up; so does lo, whose subnets are local as
// a whole, but for 127.0.0.0/8 and ::1, which every box has.
func Connected(addresses []netip.Prefix, ours []Config) ([]Conflict, error) {
	var links []netlink.Link
	var addrs []netlink.Addr
	err := retry(func() (err error) {
		links, err = netlink.LinkList()
		return err
	})
	if err == nil {
		err = retry(func() (err error) {
			addrs, err = netlink.AddrList(nil, netlink.FAMILY_ALL)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the box's links and addresses: %w", err)
	}
	return conflicts(addresses, ownedBy(links, addrs, ours)), nil
}

// ownedBy returns what each address of a link that is not ours makes local or
// connected: itself, and its subnet, or its peer's.
func ownedBy(links []netlink.Link, addrs []netlink.Addr, ours []Config) []owned {
	names := make(map[int]string, len(links))
	for _, found := range links {
		l := linkOf(found)
		if !slices.ContainsFunc(ours, func(c Config) bool {
			return c.Link == l.Name || bears(c, l)
		}) {
			names[l.Index] = l.Name
		}
	}
	var all []owned
	for _, a := range addrs {
		name, known := names[a.LinkIndex]
		p, ok := prefixOf(a)
		if !known || !ok || p.Addr().IsLoopback() {
			continue
		}
		all = append(all, owned{netip.PrefixFrom(p.Addr(), p.Addr().BitLen()), name})
		if a.Peer != nil {
			p, _ = prefixOf(netlink.Addr{IPNet: a.Peer})
		}
		all = append(all, owned{p.Masked(), name})
	}
	return all
}

// conflicts returns, for each address, the first of all that it collides with.
func conflicts(addresses []netip.Prefix, all []owned) []Conflict {
	var found []Conflict
	for _, a := range addresses {
		i := slices.IndexFunc(all, func(o owned) bool { return o.subnet.Contains(a.Addr()) })
		if i >= 0 {
			found = append(found, Conflict{Address: a, Link: all[i].link, Subnet: all[i].subnet})
		}
	}
	return found
}
