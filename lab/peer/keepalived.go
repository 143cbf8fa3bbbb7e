package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recuse/lab/topology"
)

// keepalived is VRRP, the failover that people have without BGP: of the nodes
// one holds the addresses, on the nodes' network itself, and says so by ARP. A
// router needs no protocol, only a route that says where to ask for them. It
// fits the flat layout best, where clients could do without a router at all.
//
// It could set a link down for a BGP daemon instead; that would be frr-script
// with another loop.
type keepalived struct {
	tuned  bool
	pace   pace
	advert time.Duration
}

// newKeepalived has keepalived's defaults (keepalived.conf(5), 2.2.7): a check
// each second that has as long, one that fails takes the node out, an
// advertisement a second (three lost ones and a skew are a dead master).
// Intervals of a check are whole seconds, so that only the advertisements can be
// faster; below 50 ms a busy box mistakes its own stalls for a dead master.
func newKeepalived(tuned bool) *keepalived {
	k := &keepalived{tuned: tuned, pace: pace{time.Second, time.Second, 1, 1}, advert: time.Second}
	if tuned {
		k.advert = 50 * time.Millisecond
	}
	return k
}

// Name is the report's word.
func (*keepalived) Name() string { return Keepalived }

// Install writes keepalived.conf.
func (k *keepalived) Install(_ context.Context, n *topology.Node) ([]*topology.Process, error) {
	command, err := checker(n, k.pace.timeout)
	if err != nil {
		return nil, err
	}
	if err := n.WriteFile("keepalived.conf", k.config(n, command)); err != nil {
		return nil, err
	}
	return []*topology.Process{n.Add(Keepalived, func() []string {
		return []string{
			"/usr/sbin/keepalived", "--dont-fork", "--log-console", "--no-syslog", "--vrrp",
			"-f", n.Path("keepalived.conf"), "-p", n.Path("keepalived.pid"), "-r", n.Path("vrrp.pid"),
		}
	})}, nil
}

// config is the node's part: the first node is the master while it is fit. The
// addresses of IPv6 go with those of IPv4.
func (k *keepalived) config(n *topology.Node, command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "global_defs {\n\trouter_id %s\n\tscript_user root\n\tenable_script_security\n\tvrrp_version %d\n}\n",
		n.ShortName, map[bool]int{false: 2, true: 3}[k.tuned])
	fmt.Fprintf(&b, "vrrp_script resolver {\n\tscript %q\n\tinterval %s\n\ttimeout %s\n\trise %d\n\tfall %d\n}\n",
		command, seconds(k.pace.pause), seconds(k.pace.timeout), k.pace.rise, k.pace.fall)
	fmt.Fprintf(&b, "vrrp_instance dns {\n\tstate BACKUP\n\tinterface %s\n\tvirtual_router_id 53\n\tpriority %d\n\tadvert_int %s\n",
		nodeDevice, 100-n.Index, seconds(k.advert))
	four, six := split(n.Addresses)
	fmt.Fprintf(&b, "\tvirtual_ipaddress {\n%s\t}\n", lines("\t\t", four))
	fmt.Fprintf(&b, "\tvirtual_ipaddress_excluded {\n%s\t}\n\ttrack_script {\n\t\tresolver\n\t}\n}\n", lines("\t\t", six))
	return b.String()
}

// nodeDevice is the nodes' network interface, and the router's towards them.
const nodeDevice = "lan0"

// split parts addresses by family.
func split(addresses []netip.Prefix) (four, six []netip.Prefix) {
	for _, p := range addresses {
		if p.Addr().Is4() {
			four = append(four, p)
		} else {
			six = append(six, p)
		}
	}
	return four, six
}

// lines are prefixes, one a line.
func lines(indent string, prefixes []netip.Prefix) string {
	var b strings.Builder
	for _, p := range prefixes {
		b.WriteString(indent + p.String() + "\n")
	}
	return b.String()
}

// RouterConfig routes the addresses into the nodes' network.
func (k *keepalived) RouterConfig(_ context.Context, r *topology.Router, nodes []*topology.Node) (string, error) {
	four, six := split(nodes[0].Addresses)
	var b strings.Builder
	if r.Kind == topology.BIRD {
		b.WriteString("protocol device {}\n")
		for family, prefixes := range map[string][]netip.Prefix{"ipv4": four, "ipv6": six} {
			fmt.Fprintf(&b, "protocol kernel { %s { export all; }; }\nprotocol static { %s;\n", family, family)
			for _, p := range prefixes {
				fmt.Fprintf(&b, "\troute %s via %q;\n", p, nodeDevice)
			}
			b.WriteString("}\n")
		}
		return b.String(), nil
	}
	for _, p := range four {
		fmt.Fprintf(&b, "ip route %s %s\n", p, nodeDevice)
	}
	for _, p := range six {
		fmt.Fprintf(&b, "ipv6 route %s %s\n", p, nodeDevice)
	}
	return b.String(), nil
}

// Serving is the node to which the router sends what is for the first service
// address: the owner of the link-layer address in its neighbour table, or while
// nobody has asked yet the node that holds the address. nil if none does.
func (k *keepalived) Serving(ctx context.Context, r *topology.Router, nodes []*topology.Node) (*topology.Node, error) {
	service := nodes[0].Addresses[0].Addr()
	out, err := r.Run(ctx, "ip", "-j", "neigh", "show", "to", service.String(), "dev", nodeDevice)
	if err != nil {
		return nil, err
	}
	mac, err := first(out, "lladdr")
	if err != nil {
		return nil, fmt.Errorf("failed to read neighbours of %s: %w: %q", r.ShortName, err, out)
	}
	for _, n := range nodes {
		out, err := n.Run(ctx, "ip", "-j", "addr", "show", "dev", nodeDevice)
		if err != nil {
			return nil, err
		}
		own, err := first(out, "address")
		if err != nil {
			return nil, fmt.Errorf("failed to read addresses of %s: %w: %q", n.ShortName, err, out)
		}
		holds := strings.Contains(out, `"`+service.String()+`"`)
		if mac == own || mac == "" && holds {
			return n, nil
		}
	}
	return nil, nil
}

// first is a text field of the first object that `ip -j` printed, "" if there
// is none.
func first(out, field string) (string, error) {
	var list []map[string]any
	if strings.TrimSpace(out) == "" {
		return "", nil
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) == 0 {
		return "", err
	}
	text, _ := list[0][field].(string)
	return text, nil
}

// Settings are those that count.
func (k *keepalived) Settings() []string {
	return []string{fmt.Sprintf("keepalived: VRRP, advert_int %v, vrrp_script interval %v, timeout %v, rise %d, fall %d (%s); no BGP",
		k.advert, k.pace.pause, k.pace.timeout, k.pace.rise, k.pace.fall, word(k.tuned))}
}

// Versions asks keepalived.
func (*keepalived) Versions(ctx context.Context) map[string]string {
	return version(ctx, "/usr/sbin/keepalived", "--version")
}
