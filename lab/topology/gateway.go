package topology

import (
	"errors"
	"net/netip"
	"slices"
)

// hopsOf are the nodes' addresses of one family, sorted.
func hopsOf(nodes []*Node, six bool) []netip.Addr {
	var hops []netip.Addr
	for _, n := range nodes {
		if six {
			hops = append(hops, n.V6)
		} else {
			hops = append(hops, n.V4)
		}
	}
	slices.SortFunc(hops, netip.Addr.Compare)
	return hops
}

// SetGateway makes a router everybody's default gateway: the clients', the
// nodes' and the authority's. With two routers it stands in for VRRP, whose
// delay is none of the lab's business. It is the first router at the start.
func (l *Lab) SetGateway(r *Router) error {
	errs := []error{l.Authority.setGateway(wideNet, r.Number)}
	for _, c := range l.clients {
		errs = append(errs, c.setGateway(l.options.clientNet(), r.Number))
	}
	for _, n := range l.Nodes {
		errs = append(errs, n.setGateway(nodeNet, r.Number))
	}
	return errors.Join(errs...)
}
