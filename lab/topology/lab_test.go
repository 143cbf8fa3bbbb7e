package topology_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/load"
	"recuse/lab/load/stub"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// The tests of this package need root and the routers; see labtest.Require, and
// RECUSE_TEST_REQUIRE_ROOT=1, which lets none of them be skipped.

// soon bounds one question in a test.
const soon = 10 * time.Second

// ask puts a question that must be answered and returns response code, whether
// there were addresses, and the node.
func ask(t *testing.T, h *topology.Host, at netip.Addr, name string, qtype uint16) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	m, err := h.Ask(ctx, at, name, qtype)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %d by %s", dns.RcodeToString[m.Rcode], len(m.Answer), m.IsEdns0().Option[0])
}

// by is what ask returns of node n ("6e31" is n1).
func by(rcode string, answers int, node string) string {
	return fmt.Sprintf("%s %d by %x", rcode, answers, node)
}

// TestLab raises the base of the lab behind each router: the client reaches
// every node's resolver over both families, and through it the authority.
func TestLab(t *testing.T) {
	t.Parallel()
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			t.Parallel()
			lab := labtest.StartBare(t, topology.Options{Router: router})
			if len(lab.Nodes) != 3 || lab.Router != lab.Routers[0] {
				t.Fatalf("%d nodes, router %v", len(lab.Nodes), lab.Router)
			}
			for _, n := range lab.Nodes {
				got := []string{
					ask(t, lab.Client.Host, n.V4, "nas.lan.", dns.TypeA),
					ask(t, lab.Client.Host, n.V6, "tv.lan.", dns.TypeAAAA),
					ask(t, lab.Client.Host, n.V4, "no-such-host.lan.", dns.TypeA),
					ask(t, lab.Client.Host, n.V6, "video.internet.example.", dns.TypeA),
					ask(t, lab.Client.Host, n.V4, "0123.fresh.internet.example.", dns.TypeA),
					ask(t, lab.Client.Host, n.V4, "elsewhere.invalid-tld.", dns.TypeA),
				}
				want := []string{
					by("NOERROR", 1, n.ShortName), by("NOERROR", 1, n.ShortName), by("NXDOMAIN", 0, n.ShortName),
					by("NOERROR", 1, n.ShortName), by("NOERROR", 1, n.ShortName), by("NXDOMAIN", 0, n.ShortName),
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("unexpected answers of %s (-want +got):\n%s", n.ShortName, d)
				}
			}
			question := map[string]string{topology.FRR: "show version", topology.BIRD: "show status"}[router]
			if out, err := lab.Router.Show(t.Context(), question); err != nil || out == "" {
				t.Errorf("the router says %q, %v", out, err)
			}
		})
	}
}

// TestSpread gives every node the service address by hand and the router a
// route to all three: the client's source ports spread over them, each answer
// bears the service address (a connected socket takes no other), and when one
// resolver is killed only its share is lost.
func TestSpread(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{})
	for _, p := range topology.DefaultAddresses() {
		for _, n := range lab.Nodes {
			if err := n.AddAddress("lo", p); err != nil {
				t.Fatal(err)
			}
			answers(t, n, p.Addr())
		}
		route(t, lab, p, lab.Nodes)
		got, err := lab.Router.NextHops(p)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(3, len(got)); d != "" {
			t.Fatalf("unexpected next hops %v (-want +got):\n%s", got, d)
		}
		f := spread(t, lab, p.Addr(), soon)
		if f.Lost != 0 || f.Bad != 0 || min(f.Nodes["n1"], f.Nodes["n2"], f.Nodes["n3"]) < 15 {
			t.Errorf("unexpected figures over %s: %+v", p, f)
		}
	}
	if err := lab.Nodes[1].Resolver.Kill(); err != nil {
		t.Fatal(err)
	}
	f := spread(t, lab, topology.DefaultAddresses()[0].Addr(), time.Second)
	if f.Nodes["n2"] != 0 || f.Lost < 15 || f.Lost > 90 || f.Nodes["n1"]+f.Nodes["n3"]+f.Lost != f.Asked {
		t.Errorf("unexpected figures without n2: %+v", f)
	}
}

// route gives the router a route of the prefix over the nodes.
func route(t *testing.T, lab *topology.Lab, p netip.Prefix, nodes []*topology.Node) {
	t.Helper()
	argv := []string{"ip", "route", "replace", p.String()}
	for _, n := range nodes {
		hop := n.V4
		if p.Addr().Is6() {
			hop = n.V6
		}
		argv = append(argv, "nexthop", "via", hop.String())
	}
	if _, err := lab.Router.Run(t.Context(), argv...); err != nil {
		t.Fatal(err)
	}
}

// answers waits until the node answers on an address that it has just been
// given: Linux makes an IPv6 address local some time after netlink has said yes
// (the work that ends its duplicate address detection does).
func answers(t *testing.T, n *topology.Node, at netip.Addr) {
	t.Helper()
	err := topology.Within(t.Context(), soon, n.ShortName+" answer on "+at.String(), func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := n.Ask(ctx, at, "nas.lan.", dns.TypeA)
		return err == nil, fmt.Sprint(err)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// spread asks an address 150 times.
func spread(t *testing.T, lab *topology.Lab, at netip.Addr, timeout time.Duration) load.Figures {
	t.Helper()
	records, err := load.Run(t.Context(), load.Config{
		Rate: 300, Duration: 500 * time.Millisecond,
		Servers: []netip.AddrPort{netip.AddrPortFrom(at, 53)}, Stub: stub.None(timeout),
		Clients: []load.Network{{Do: lab.Client.Do}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return load.Summarize(records)
}

// TestTwoLabs raises two labs at once: equal addresses, different boxes.
func TestTwoLabs(t *testing.T) {
	t.Parallel()
	a := labtest.StartBare(t, topology.Options{Nodes: 1})
	b := labtest.StartBare(t, topology.Options{Nodes: 2, Router: topology.BIRD})
	if a.ID() == b.ID() {
		t.Fatalf("both labs are %s", a.ID())
	}
	if err := a.Authority.SetFailure(t.Context(), authority.LAN, authority.ServFail); err != nil {
		t.Fatal(err)
	}
	at := a.Nodes[0].V4
	if got, want := ask(t, a.Client.Host, at, "x.lan.", dns.TypeA), by("SERVFAIL", 0, "n1"); got != want {
		t.Errorf("the first lab answers %s, want %s", got, want)
	}
	if got, want := ask(t, b.Client.Host, at, "x.lan.", dns.TypeA), by("NXDOMAIN", 0, "n1"); got != want {
		t.Errorf("the second lab answers %s, want %s", got, want)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if got, want := ask(t, b.Client.Host, b.Nodes[1].V6, "y.lan.", dns.TypeA), by("NXDOMAIN", 0, "n2"); got != want {
		t.Errorf("after the first is closed the second lab answers %s, want %s", got, want)
	}
}

// TestTwoRouters lets the first router fall silent and everybody go by the
// second.
func TestTwoRouters(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 1, Routers: 2})
	if err := lab.Routers[0].Freeze(); err != nil {
		t.Fatal(err)
	}
	silent(t, lab.Client.Host, lab.Nodes[0].V4)
	if err := lab.SetGateway(lab.Routers[1]); err != nil {
		t.Fatal(err)
	}
	if got, want := ask(t, lab.Client.Host, lab.Nodes[0].V4, "x.lan.", dns.TypeA), by("NXDOMAIN", 0, "n1"); got != want {
		t.Errorf("through the second router: %s, want %s", got, want)
	}
}

// silent fails the test if anything answers there within half a second.
func silent(t *testing.T, h *topology.Host, at netip.Addr) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if m, err := h.Ask(ctx, at, "silence.lan.", dns.TypeA); err == nil {
		t.Errorf("%s answered: %v", at, m)
	}
}
