package peer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"recuse/lab/topology"
)

// frr is FRR on the node, which announces the addresses of a link while zebra
// sees it up, and a script that sets the link up and down.
type frr struct {
	tuned bool
	pace  pace
	side  side
}

// newFRR has FRR's defaults (180 s of hold time, 120 s between two attempts to
// connect, BFD 300 ms x 3). A script of one's own has none; its pace is that of
// the arrangement that this lab compares with: out after two failures at
// intervals of 2 s, back after three successes.
func newFRR(tuned bool) *frr {
	if tuned {
		s := quick
		s.bfd, s.pace = true, &quickBFD
		return &frr{tuned: true, pace: fastest, side: s}
	}
	return &frr{
		pace: pace{pause: 2 * time.Second, timeout: time.Second, rise: 3, fall: 2},
		side: side{bfd: true},
	}
}

// Name is the report's word.
func (*frr) Name() string { return FRRScript }

// Install makes the link and describes FRR and the script. IPv6 addresses are
// told to outlive a link that is set down; IPv4 ones do by themselves.
func (a *frr) Install(_ context.Context, n *topology.Node) ([]*topology.Process, error) {
	if err := n.Hold(link); err != nil {
		return nil, err
	}
	if err := n.Sysctl("net/ipv6/conf/"+link+"/keep_addr_on_down", "1"); err != nil {
		return nil, err
	}
	processes, err := n.InstallFRR(a.config(n))
	if err != nil {
		return nil, err
	}
	script, err := health(n, "frr-hooks.sh", a.pace)
	return append(processes, script), err
}

// config announces what is connected by the link, and nothing else.
func (a *frr) config(n *topology.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "route-map SERVICE permit 10\n match interface %s\nexit\n", link)
	b.WriteString(a.side.frrBFD())
	fmt.Fprintf(&b, "router bgp %d\n bgp router-id %s\n no bgp ebgp-requires-policy\n", n.ASN, n.V4)
	for _, router := range n.Gateways {
		fmt.Fprintf(&b, " neighbor %s remote-as %d\n%s", router, topology.RouterASN, a.side.frrSession(router))
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		fmt.Fprintf(&b, " address-family %s unicast\n  redistribute connected route-map SERVICE\n", family)
		for _, router := range n.Gateways {
			fmt.Fprintf(&b, "  neighbor %s activate\n", router)
		}
		b.WriteString(" exit-address-family\n")
	}
	b.WriteString("exit\n")
	return b.String()
}

// RouterConfig is the router's side.
func (a *frr) RouterConfig(_ context.Context, r *topology.Router, nodes []*topology.Node) (string, error) {
	return a.side.config(r.Kind, nodes), nil
}

// Settings are those that count.
func (a *frr) Settings() []string {
	return []string{
		fmt.Sprintf("frr-script: %v (%s)", a.pace, word(a.tuned)),
		"frr-script: " + a.side.String(),
	}
}

// Versions asks bgpd.
func (*frr) Versions(ctx context.Context) map[string]string {
	return version(ctx, "/usr/lib/frr/bgpd", "--version")
}
