package topology

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
)

// The ways to a last resort. Each answers for the service addresses while the
// router has no node's route, and by itself steps back for the first one. None
// needs a script.
const (
	None     = "none"
	Floating = "floating" // a route of the worst metric to a box with a resolver
	Policy   = "policy"   // a rule behind the main table makes the addresses the router's own
	Redirect = "redirect" // destination NAT to the router's resolver
)

// ResortSettings say what each is, for a report.
var ResortSettings = map[string]string{
	Floating: "a floating route of distance 250 to a resolver on a box of its own",
	Policy:   "a rule behind the main table makes the service addresses local; unbound with ip-transparent answers",
	Redirect: "destination NAT to the router's unbound where there is no route; what a route takes is not tracked",
}

// worstMetric is that of a route that loses to any other. zebra takes its top
// byte for the distance of a kernel route: 250.
const worstMetric = "4194304000"

// policyTable is the routing table that makes the service addresses local.
const policyTable = "153"

// raiseServices describes what runs on the router beside its daemons, and the
// last resort.
func (l *Lab) raiseServices(ctx context.Context) error {
	if l.options.Layout == Flat {
		if err := l.furnish(ctx); err != nil {
			return err
		}
	}
	switch {
	case l.options.Relay:
		return l.raiseRelay()
	case l.options.LastResort == Floating:
		return l.raiseFloating(ctx)
	case l.options.LastResort == Policy:
		return l.raisePolicy(ctx)
	case l.options.LastResort == Redirect:
		return l.raiseRedirect(ctx)
	}
	return nil
}

// raiseFloating makes a box that has the service addresses, and a route to it
// that any node's route beats.
func (l *Lab) raiseFloating(ctx context.Context) error {
	h, err := l.host("resort")
	if err != nil {
		return err
	}
	if err := l.fabric.connect(h, resortNet, resortNet.addresses(resortHost)); err != nil {
		return err
	}
	if err := h.setGateway(resortNet, 1); err != nil {
		return err
	}
	for _, p := range l.options.Addresses {
		if err := h.AddAddress("lo", p); err != nil {
			return err
		}
		via := resortNet.v4(resortHost)
		if p.Addr().Is6() {
			via = resortNet.v6(resortHost)
		}
		if err := l.Router.ip(ctx, p, "route", "add", p.String(), "via", via.String(), "metric", worstMetric); err != nil {
			return err
		}
	}
	l.Resolver, err = h.unbound(listenLines(nil), l.options.ResolverExtra)
	if err != nil {
		return err
	}
	return l.Resolver.Start()
}

// raisePolicy lets the main table decide, its default route left out, and makes
// what it does not know the router's own.
func (l *Lab) raisePolicy(ctx context.Context) error {
	lines := "  ip-transparent: yes\n"
	for _, p := range l.options.Addresses {
		lines += fmt.Sprintf("  interface: %s\n", p.Addr())
		to := p.String()
		for _, args := range [][]string{
			{"route", "add", "local", to, "dev", "lo", "table", policyTable},
			{"rule", "add", "pref", "500", "to", to, "lookup", "main", "suppress_prefixlength", "0"},
			{"rule", "add", "pref", "501", "to", to, "lookup", policyTable},
		} {
			if err := l.Router.ip(ctx, p, args...); err != nil {
				return err
			}
		}
	}
	return l.serveOnRouter(lines)
}

// raiseRedirect translates the addresses to the router's own where no route is.
// What a node's route takes and what a node answers is not tracked: else a
// mapping of either time would outlive it, for as long as its port is used, and
// a query that meets it is lost.
func (l *Lab) raiseRedirect(ctx context.Context) error {
	lines, raw, nat := "", "", ""
	for _, p := range l.options.Addresses {
		own := l.options.clientNet().v4(l.Router.Number)
		if p.Addr().Is6() {
			own = l.options.clientNet().v6(l.Router.Number)
		}
		if err := l.Router.ip(ctx, p, "route", "add", "blackhole", p.String(), "metric", worstMetric); err != nil {
			return err
		}
		f := nftFamily(p.Addr())
		lines += fmt.Sprintf("  interface: %s\n", own)
		raw += fmt.Sprintf("\t\t%[1]s daddr %[2]s fib daddr oif exists notrack\n\t\t%[1]s saddr %[2]s notrack\n", f, p.Addr())
		nat += fmt.Sprintf("\t\t%s daddr %s meta l4proto { tcp, udp } th dport 53 fib daddr oif missing dnat %s to %s\n",
			f, p.Addr(), f, own)
	}
	rules := "table inet resort {\n" +
		"\tchain raw {\n\t\ttype filter hook prerouting priority raw;\n" + raw + "\t}\n" +
		"\tchain nat {\n\t\ttype nat hook prerouting priority dstnat;\n" + nat + "\t}\n}\n"
	if err := l.Router.NFT(ctx, "resort.nft", rules); err != nil {
		return err
	}
	return l.serveOnRouter(lines)
}

// serveOnRouter puts a resolver on the first router.
func (l *Lab) serveOnRouter(listen string) (err error) {
	l.Resolver, err = l.Router.unbound(listen, l.options.ResolverExtra)
	l.Router.services = append(l.Router.services, l.Resolver)
	return err
}

// ip runs ip on the host, for the prefix's family.
func (h *Host) ip(ctx context.Context, p netip.Prefix, args ...string) error {
	family := "-4"
	if p.Addr().Is6() {
		family = "-6"
	}
	if _, err := h.Run(ctx, append([]string{"ip", family}, args...)...); err != nil {
		return fmt.Errorf("failed to run ip %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
