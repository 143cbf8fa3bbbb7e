package topology_test

import (
	"testing"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestSwitchable has one of two nodes' resolvers fail at will, also after it was
// killed, and shows that unbound has no such switch.
func TestSwitchable(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 2, Switchable: true})
	n1, n2 := lab.Nodes[0], lab.Nodes[1]
	says := func(n *topology.Node, want string) {
		t.Helper()
		if got := ask(t, lab.Client.Host, n.V6, "x.lan.", dns.TypeA); got != want {
			t.Errorf("%s answers %s, want %s", n.ShortName, got, want)
		}
	}
	wrong := authority.Behaviour{Failure: authority.ServFail}
	if err := n1.Behave(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	says(n1, by("SERVFAIL", 0, "n1"))
	says(n2, by("NXDOMAIN", 0, "n2"))
	if err := n1.Resolver.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := n1.Resolver.Start(); err != nil {
		t.Fatal(err)
	}
	if err := n1.WaitResolver(t.Context()); err != nil {
		t.Fatal(err)
	}
	says(n1, by("NXDOMAIN", 0, "n1"))
	if err := n1.Behave(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	says(n1, by("SERVFAIL", 0, "n1"))
}

// TestSetFor takes the home zone from one of two resolvers, over both families.
func TestSetFor(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 2})
	n1, n2 := lab.Nodes[0], lab.Nodes[1]
	wrong := authority.Behaviour{Failure: authority.ServFail}
	if err := lab.Authority.SetFor(t.Context(), authority.LAN, wrong); err == nil {
		t.Error("no error without a node")
	}
	if err := lab.Authority.SetFor(t.Context(), authority.LAN, wrong, n1); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[*topology.Node]string{n1: by("SERVFAIL", 0, "n1"), n2: by("NXDOMAIN", 0, "n2")} {
		if got := ask(t, lab.Client.Host, n.V4, "y.lan.", dns.TypeA); got != want {
			t.Errorf("%s answers %s, want %s", n.ShortName, got, want)
		}
	}
}
