package peer

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recuse/lab/topology"
)

// bird is BIRD on the node, which announces the addresses of a link that are in
// a list, and a script that writes the list and has BIRD read it again: the way
// of anycast_healthchecker.
type bird struct {
	tuned bool
	pace  pace
	side  side
}

// newBIRD has BIRD's defaults (240 s of hold time, 120 s between two attempts to
// connect, one to five minutes of wait after an error; BFD: 100 ms to send, 10
// ms to receive, multiplier 5) and the pace of anycast_healthchecker's: interval
// 10, timeout 2, rise 2, fail 2. Behind FRR a node at these defaults serves a
// minute late: when a session comes up bgpd makes its BFD session anew, BIRD
// takes that for a failure of the session that it was made for, and waits.
func newBIRD(tuned bool) *bird {
	if tuned {
		s := quick
		s.bfd, s.pace = true, &quickBFD
		return &bird{tuned: true, pace: fastest, side: s}
	}
	return &bird{
		pace: pace{pause: 10 * time.Second, timeout: 2 * time.Second, rise: 2, fall: 2},
		side: side{bfd: true},
	}
}

// Name is the report's word.
func (*bird) Name() string { return BIRDScript }

// Install makes the link and describes BIRD and the script. The list is empty
// until the script has spoken.
func (a *bird) Install(_ context.Context, n *topology.Node) ([]*topology.Process, error) {
	if err := n.Hold(link); err != nil {
		return nil, err
	}
	lists := "define ADVERTISE4 = [ 192.0.2.255/32 ];\ndefine ADVERTISE6 = [ 2001:db8:ffff::255/128 ];\n"
	if err := n.WriteFile("advertise.conf", lists); err != nil {
		return nil, err
	}
	if err := n.WriteFile("addresses.sh", addressLists(n.Addresses)); err != nil {
		return nil, err
	}
	daemon, err := n.InstallBIRD(a.config(n))
	if err != nil {
		return nil, err
	}
	script, err := health(n, "bird-hooks.sh", a.pace)
	return []*topology.Process{daemon, script}, err
}

// addressLists is the service by family, each address behind a comma, as the
// script appends them.
func addressLists(addresses []netip.Prefix) string {
	four, six := split(addresses)
	return fmt.Sprintf("addresses4='%s'\naddresses6='%s'\n", commas(four), commas(six))
}

// commas are prefixes, each behind a comma.
func commas(prefixes []netip.Prefix) string {
	var b strings.Builder
	for _, p := range prefixes {
		b.WriteString(", " + p.String())
	}
	return b.String()
}

// config announces the addresses of the link that are in the list.
func (a *bird) config(n *topology.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "include %q;\nrouter id %s;\nprotocol device {}\n", n.Path("advertise.conf"), n.V4)
	fmt.Fprintf(&b, "protocol direct { ipv4; ipv6; interface %q; }\nprotocol bfd {}\n", link)
	for i, router := range n.Gateways {
		fmt.Fprintf(&b, "protocol bgp router%d {\n\tlocal %s as %d;\n\tneighbor %s as %d;\n\tdirect;\n%s",
			i+1, n.V4, n.ASN, router, topology.RouterASN, a.side.birdSession())
		for _, family := range []string{"4", "6"} {
			fmt.Fprintf(&b, "\tipv%s { import none; export where source = RTS_DEVICE && net ~ ADVERTISE%s; };\n", family, family)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// RouterConfig is the router's side.
func (a *bird) RouterConfig(_ context.Context, r *topology.Router, nodes []*topology.Node) (string, error) {
	return a.side.config(r.Kind, nodes), nil
}

// Settings are those that count.
func (a *bird) Settings() []string {
	return []string{
		fmt.Sprintf("bird-script: %v (%s)", a.pace, word(a.tuned)),
		"bird-script: " + a.side.String(),
	}
}

// Versions asks BIRD.
func (*bird) Versions(ctx context.Context) map[string]string {
	return version(ctx, "/usr/sbin/bird", "--version")
}
