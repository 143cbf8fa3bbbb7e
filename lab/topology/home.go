package topology

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// outsideNet is where a flat network's hosts appear to be from beyond the
// router, each as an address of its own: so the authority can still tell the
// nodes apart, which behind one address, as homes have it, it could not.
const outsideNet = "10.70.1.0/24"

// homeRules are the firewall that home routers come with: connections are
// tracked, what belongs to none is dropped, who is inside may begin them, and
// what leaves is translated. The router sees the clients' packets to a node but
// not the answers, which go to the client directly. more are rules to forward by.
func homeRules(more string) string {
	return fmt.Sprintf(`table inet home {
	chain forward {
		type filter hook forward priority filter; policy drop;
		ct state established,related accept
		ct state invalid counter drop
		iifname %[1]q accept
		%[5]s
		ip6 nexthdr icmpv6 accept
	}
}
table ip home {
	chain out {
		type nat hook postrouting priority srcnat;
		oifname %[2]q snat ip prefix to ip saddr map { %[3]s : %[4]s }
	}
}
`, nodeNet.device, wideNet.device, nodeNet.addresses(1)[0].Masked(), outsideNet, more)
}

// furnish makes a flat network's first router one that a home has: its firewall,
// and ICMP redirects sent and heeded as every kernel does by default.
func (l *Lab) furnish(ctx context.Context) error {
	more := ""
	if l.options.KernelSettings {
		more = "ct state untracked accept" // the settings ask for it
	}
	errs := []error{l.Router.NFT(ctx, "home.nft", homeRules(more))}
	for _, conf := range []string{"all", nodeNet.device} {
		errs = append(errs, l.Router.Sysctl("net/ipv4/conf/"+conf+"/send_redirects", "1"))
		for _, c := range l.clients {
			errs = append(errs, c.Sysctl("net/ipv4/conf/"+conf+"/accept_redirects", "1"))
		}
	}
	return errors.Join(errs...)
}

// kernelCommand is a line of a router's configuration that says, as a comment,
// what to run outside of its daemons.
var kernelCommand = regexp.MustCompile(`(?m)^[!#]\s+((?:sysctl|nft) .*)$`)

// setKernel has a router's kernel set as `recuse peering` says. Another agent's
// configuration says nothing of it, and its nodes need it as much.
func (l *Lab) setKernel(ctx context.Context, r *Router, config string) error {
	if own := (&recuseAgent{options: l.options}); l.options.Agent != nil {
		for _, n := range l.known {
			if err := n.writeConfig(l.options); err != nil {
				return err
			}
		}
		var err error
		if config, err = own.RouterConfig(ctx, r, l.known); err != nil {
			return err
		}
	}
	if l.options.LastResort == Redirect {
		config = strings.ReplaceAll(config, " notrack", " fib daddr oif exists notrack") // as the settings say
	}
	return r.obey(ctx, config)
}

// obey runs on a router what its configuration says to run outside of its
// daemons. The policy by which it spreads flows stays the lab's own.
func (r *Router) obey(ctx context.Context, config string) error {
	for _, m := range kernelCommand.FindAllStringSubmatch(config, -1) {
		if _, err := r.Run(ctx, "sh", "-c", m[1]); err != nil {
			return fmt.Errorf("failed to do as the configuration says: %w", err)
		}
	}
	return r.forwarding()
}

// outside is the IPv4 address under which the authority sees the node.
func (n *Node) outside() netip.Addr {
	if !n.translated {
		return n.V4
	}
	a, b := n.V4.As4(), netip.MustParsePrefix(outsideNet).Addr().As4()
	b[3] = a[3]
	return netip.AddrFrom4(b)
}

// Redirected are the client's routes to the service addresses that an ICMP
// redirect has changed, as `ip route get` prints them.
func (c *Client) Redirected(ctx context.Context, to netip.Addr) (string, error) {
	out, err := c.Run(ctx, "ip", "route", "get", to.String())
	if err != nil || !strings.Contains(out, "redirected") {
		return "", err
	}
	return strings.TrimSpace(out), nil
}
