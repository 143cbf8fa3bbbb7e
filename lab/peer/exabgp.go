package peer

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recuse/lab/topology"
)

// exabgp is ExaBGP, which has no BFD, with `exabgp healthcheck` as its helper.
type exabgp struct {
	tuned bool
	pace  pace
	fast  time.Duration // pause while a change of state is under way
	side  side
}

// newExaBGP has healthcheck's defaults (`exabgp healthcheck --help`, 4.2.21):
// --interval 5, --fast-interval 1, --timeout 5, --rise 3, --fall 3, and an unfit
// service announced with metric 1000 in place of 100. Tuned it withdraws
// (--withdraw-on-down); its timeout is a whole number of seconds.
func newExaBGP(tuned bool) *exabgp {
	if tuned {
		return &exabgp{tuned: true, pace: fastest, fast: fastest.pause, side: quick}
	}
	return &exabgp{
		pace: pace{pause: 5 * time.Second, timeout: 5 * time.Second, rise: 3, fall: 3},
		fast: time.Second, side: side{med: true},
	}
}

// Name is the report's word.
func (*exabgp) Name() string { return ExaBGP }

// Install writes ExaBGP's configuration and its helpers'. The helper puts the
// service's addresses on lo by itself.
func (a *exabgp) Install(_ context.Context, n *topology.Node) ([]*topology.Process, error) {
	command, err := checker(n, a.pace.timeout)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"exabgp.conf": a.config(n), "exabgp.env": environment}
	for i, address := range n.Addresses {
		files[helperFile(i)] = a.helper(n, address, command)
	}
	for name, text := range files {
		if err := n.WriteFile(name, text); err != nil {
			return nil, err
		}
	}
	return []*topology.Process{n.Add(ExaBGP, func() []string {
		return []string{"/usr/sbin/exabgp", "--env", n.Path("exabgp.env"), n.Path("exabgp.conf")}
	})}, nil
}

// environment runs ExaBGP as root, as its helper needs that sets addresses, and
// without the pipes of its command line, which are one pair for a whole box.
const environment = `[exabgp.daemon]
user = 'root'
[exabgp.api]
cli = false
[exabgp.log]
destination = 'stdout'
`

// helperFile is the name of the configuration of an address's helper.
func helperFile(i int) string { return fmt.Sprintf("healthcheck%d.conf", i) }

// helper is the configuration of the helper for an address. It is one for each:
// over an IPv4 session ExaBGP knows no "self" of IPv6.
func (a *exabgp) helper(n *topology.Node, address netip.Prefix, command string) string {
	next := n.V4
	if address.Addr().Is6() {
		next = n.V6
	}
	lines := []string{
		"no-syslog", "command = " + command, "ip = " + address.String(), "next-hop = " + next.String(),
		"interval = " + seconds(a.pace.pause), "fast-interval = " + seconds(a.fast), "timeout = " + seconds(a.pace.timeout),
		fmt.Sprintf("rise = %d", a.pace.rise), fmt.Sprintf("fall = %d", a.pace.fall),
	}
	if a.tuned {
		lines = append(lines, "withdraw-on-down")
	}
	return strings.Join(lines, "\n") + "\n"
}

// config is ExaBGP's own: a session with every router, and the helpers.
func (a *exabgp) config(n *topology.Node) string {
	var b strings.Builder
	var helpers []string
	for i := range n.Addresses {
		name := fmt.Sprintf("dns%d", i)
		helpers = append(helpers, name)
		fmt.Fprintf(&b, "process %s {\n\trun /usr/bin/python3 -m exabgp healthcheck --config %s;\n\tencoder text;\n}\n",
			name, n.Path(helperFile(i)))
	}
	for _, router := range n.Gateways {
		fmt.Fprintf(&b, "neighbor %s {\n\trouter-id %s;\n\tlocal-address %s;\n\tlocal-as %d;\n\tpeer-as %d;\n",
			router, n.V4, n.V4, n.ASN, topology.RouterASN)
		if a.side.hold > 0 {
			fmt.Fprintf(&b, "\thold-time %d;\n", int(a.side.hold.Seconds()))
		}
		b.WriteString("\tfamily { ipv4 unicast; ipv6 unicast; }\n")
		fmt.Fprintf(&b, "\tapi { processes [ %s ]; }\n}\n", strings.Join(helpers, ", "))
	}
	return b.String()
}

// RouterConfig is the router's side.
func (a *exabgp) RouterConfig(_ context.Context, r *topology.Router, nodes []*topology.Node) (string, error) {
	return a.side.config(r.Kind, nodes), nil
}

// Settings are those that count.
func (a *exabgp) Settings() []string {
	down := "an unfit node announces metric 1000, which the router is told to compare"
	if a.tuned {
		down = "an unfit node withdraws"
	}
	return []string{
		fmt.Sprintf("exabgp healthcheck: interval %v, fast-interval %v, timeout %v, rise %d, fall %d (%s); %s",
			a.pace.pause, a.fast, a.pace.timeout, a.pace.rise, a.pace.fall, word(a.tuned), down),
		"exabgp: " + a.side.String(),
	}
}

// Versions asks ExaBGP.
func (*exabgp) Versions(ctx context.Context) map[string]string {
	return version(ctx, "/usr/sbin/exabgp", "--version")
}
