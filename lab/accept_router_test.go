package lab_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"recuse/lab/topology"
)

// routerBack is the design's bound from a router's return to the route in its
// kernel; a test asserts a generous multiple, for a box with other work.
const (
	routerBack      = 3 * time.Second
	routerBackBound = 5 * routerBack
)

// overSix makes the node speak to its first router over IPv6.
func overSix(node int, c tree) {
	p := peer(c, 0)
	p["address"] = "2001:db8:60::1"
	p["local_address"] = fmt.Sprintf("2001:db8:60::%d", 11+node)
}

// TestRouter has the router come late, restart, and die, behind sessions of
// both families with MD5 and GTSM. Each session carries both families' routes.
func TestRouter(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 2, Password: "right", TTLSecurity: true, WithoutRouter: true},
		func(node int, c tree) {
			if node == 1 {
				overSix(node, c)
			}
		})
	t.Run("started after the agent", func(t *testing.T) {
		for _, n := range lab.Nodes {
			reason(t, n, "no established peer has the route")
		}
		comesBack(t, lab, lab.Router.Start)
	})
	t.Run("restarted", func(t *testing.T) {
		must(t, lab.Router.Stop())
		comesBack(t, lab, lab.Router.Start)
	})
	t.Run("away for a while", func(t *testing.T) {
		must(t, lab.Router.Stop())
		for _, n := range lab.Nodes {
			reason(t, n, "no established peer has the route")
		}
		// Long enough for a dialler that doubles its pauses to be seen.
		hops(t, lab.Router, anycast4)
		lasts(t, 8*time.Second, "no route", func() (bool, string) {
			got, err := lab.Router.NextHops(anycast4)
			return len(got) == 0 && err == nil, fmt.Sprint(got, err)
		})
		comesBack(t, lab, lab.Router.Start)
	})
	t.Run("killed", func(t *testing.T) {
		must(t, lab.Router.Kill())
		reboot(t, lab.Router)
		comesBack(t, lab, lab.Router.Start)
	})
	t.Run("sessions reset", func(t *testing.T) {
		comesBack(t, lab, func(ctx context.Context) error {
			_, err := lab.Router.Show(ctx, "clear bgp *") // Cease, administrative reset
			hops(t, lab.Router, anycast4)
			return err
		})
	})
	t.Run("silent while the agent stops", func(t *testing.T) { stopsUnheard(t, lab) })
	t.Run("another AS", func(t *testing.T) { wrongAS(t, lab.Nodes[0], lab) })
	for i, n := range lab.Nodes {
		t.Run(fmt.Sprintf("wrong password over IPv%d", 4+2*i), func(t *testing.T) { wrongPassword(t, lab, n) })
	}
}

// reboot empties the kernel of a router that was killed. FRR 8.4 that finds its
// own old IPv6 route there may end up with one of two next hops in the kernel
// and two in zebra, which says nothing of the nodes.
func reboot(t *testing.T, r *topology.Router) {
	t.Helper()
	for _, family := range []string{"-4", "-6"} {
		_, err := r.Run(t.Context(), "ip", family, "route", "flush", "proto", "bgp")
		must(t, err)
	}
	hops(t, r, anycast4)
	hops(t, r, anycast6)
}

// comesBack starts the router and waits until its kernel has every route anew
// from the running daemon: what a killed one left there does not count.
func comesBack(t *testing.T, lab *topology.Lab, start func(context.Context) error) {
	t.Helper()
	must(t, start(t.Context()))
	begin := time.Now()
	eventually(t, "both families of both nodes in FRR", func() (bool, string) {
		for _, q := range []string{"show bgp ipv4 unicast " + anycast4.String(), "show bgp ipv6 unicast " + anycast6.String()} {
			out, err := lab.Router.Show(t.Context(), q)
			if err != nil || !strings.Contains(out, "(2 available") {
				return false, fmt.Sprint(out, err)
			}
		}
		return true, ""
	})
	announced(t, lab, lab.Nodes...)
	d := time.Since(begin)
	t.Logf("route in the router's kernel %v after the router was ready (design: %v)", d.Round(time.Millisecond), routerBack)
	if d > routerBackBound {
		t.Errorf("route back after %v", d)
	}
}

// wrongPassword gives a node a password that is not the router's, and back.
func wrongPassword(t *testing.T, lab *topology.Lab, n *topology.Node) {
	path, log := n.Path(topology.PasswordFile), len(n.Agent.Log())
	must(t, n.Agent.End())
	must(t, os.WriteFile(path, []byte("wrong\n"), 0o600))
	must(t, n.Agent.Start())
	announced(t, lab, others(lab, n)...)
	logged(t, n, log, "password")
	eventually(t, "status name the password", func() (bool, string) {
		st, _ := status(t, n)
		return len(st.Peers) == 1 && st.Peers[0].State != "ESTABLISHED" &&
			strings.Contains(st.Peers[0].Error, "password"), fmt.Sprintf("%+v", st.Peers)
	})
	reason(t, n, "no established peer has the route")
	must(t, n.Agent.End())
	must(t, os.WriteFile(path, []byte("right\n"), 0o600))
	must(t, n.Agent.Start())
	announced(t, lab, lab.Nodes...)
}

// stopsUnheard stops an agent whose router has fallen silent: the farewell
// waits for nobody.
func stopsUnheard(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[1]
	must(t, lab.Router.Freeze())
	start := time.Now()
	stop(t, n)
	d := time.Since(start)
	t.Logf("ended after %v", d.Round(time.Millisecond))
	if d > 10*time.Second {
		t.Errorf("ended only after %v", d)
	}
	must(t, lab.Router.Thaw())
	must(t, n.Agent.Start())
	announced(t, lab, lab.Nodes...)
}

// wrongAS has a node take the router for one of another AS, and back.
func wrongAS(t *testing.T, n *topology.Node, lab *topology.Lab) {
	path, log := n.Path(topology.ConfigFile), len(n.Agent.Log())
	right, err := os.ReadFile(path)
	must(t, err)
	stop(t, n)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(right), "asn: 65000", "asn: 64999", 1)), 0o600))
	must(t, n.Agent.Start())
	logged(t, n, log, "session not up", "64999")
	eventually(t, "status name both AS numbers", func() (bool, string) {
		st, code := status(t, n)
		return code == 3 && st.Peers[0].State != "ESTABLISHED" && strings.Contains(st.Peers[0].Error, "64999") &&
			strings.Contains(st.Peers[0].Error, "65000"), fmt.Sprintf("%d %+v", code, st.Peers)
	})
	stop(t, n)
	must(t, os.WriteFile(path, right, 0o600))
	must(t, n.Agent.Start())
	announced(t, lab, lab.Nodes...)
}

// TestUplinkMissing starts an agent on a box without its IPv4 address, and
// without a configured router-id: it waits, says for what, and goes on when the
// address comes.
func TestUplinkMissing(t *testing.T) {
	t.Parallel()
	var config tree
	lab := network(t, topology.Options{Nodes: 1, WithoutAgent: true, HoldTime: 3 * time.Second},
		func(_ int, c tree) { config = c })
	n := lab.Nodes[0]
	delete(config["bgp"].(tree), "router_id")
	must(t, n.WriteConfig(topology.ConfigFile, config))
	uplink := netip.PrefixFrom(n.V4, 24)
	must(t, n.DeleteAddress("lan0", uplink))
	must(t, n.Agent.Start())
	reason(t, n, "no established peer has the route")
	eventually(t, "status say what the peer waits for", func() (bool, string) {
		st, _ := status(t, n)
		return len(st.Peers) == 1 && strings.Contains(st.Peers[0].Error, "no local IPv4 address"),
			fmt.Sprintf("%+v", st.Peers)
	})
	must(t, n.AddAddress("lan0", uplink))
	must(t, lab.SetGateway(lab.Router)) // it went with the address
	announced(t, lab, n)
	t.Run("comes back without its IPv6 address", func(t *testing.T) { uplinkFlaps(t, lab) })
	if st, code := status(t, n); code != 0 || st.RouterID != n.V4.String() {
		t.Errorf("exit code %d, router-id %q, want %s", code, st.RouterID, n.V4)
	}
}

// uplinkFlaps sets the node's uplink down and up. The kernel keeps its IPv4
// address and flushes the IPv6 one, so that there is no next hop to announce
// the IPv6 route with: it is withheld, and status says why, until the address
// is back.
func uplinkFlaps(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	must(t, n.LinkDown("lan0"))
	hops(t, lab.Router, anycast4)
	must(t, n.LinkUp("lan0"))
	_, err := n.Run(t.Context(), "ip", "route", "replace", "default", "via", "10.60.0.1") // for the resolver
	must(t, err)
	hops(t, lab.Router, anycast4, n.V4)
	hops(t, lab.Router, anycast6)
	eventually(t, "status say what is withheld", func() (bool, string) {
		st, _ := status(t, n)
		a := st.Services[0].Addresses
		return a[0].Announced && !a[1].Announced && strings.Contains(st.Peers[0].Error, "IPv6"), fmt.Sprintf("%+v", st)
	})
	must(t, n.AddAddress("lan0", netip.PrefixFrom(n.V6, 64)))
	must(t, lab.SetGateway(lab.Router))
	announced(t, lab, n)
}
