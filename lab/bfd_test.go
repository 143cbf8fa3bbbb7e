package lab_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// The timers that are looked at: the default, and the shortest that the design
// gives a number for. The bound is ten times the aim of a frozen node's time to
// the next hop gone, and far below the hold time, which is what it takes
// without BFD.
var paces = []struct {
	name       string
	bfd        topology.BFD
	aim, bound time.Duration
}{
	{"300ms x 3", topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}, 950 * time.Millisecond, 10 * time.Second},
	{"50ms x 3", topology.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}, 250 * time.Millisecond, 2500 * time.Millisecond},
}

// patientBFD is for what is not about BFD, but must leave its sessions alone: no
// moment in which the box stands still is mistaken for a loss.
var patientBFD = topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 10}

// slowHold is a hold time that no loss by BFD can be mistaken for.
const slowHold = time.Minute

// guarded raises a lab of two nodes with BFD, and waits until that is up.
func guarded(t testing.TB, o topology.Options, edit func(int, tree)) *topology.Lab {
	t.Helper()
	if o.BFD == nil {
		o.BFD = &paces[0].bfd
	}
	o.Nodes, o.HoldTime = 2, slowHold
	lab := network(t, o, edit)
	announced(t, lab, lab.Nodes...)
	return lab
}

// beside waits until the node's agent says of its first peer what ok wants.
func beside(t testing.TB, n *topology.Node, what string, ok func(control.Peer) bool) control.Peer {
	t.Helper()
	var p control.Peer
	eventually(t, n.ShortName+" say of its router "+what, func() (bool, string) {
		st, err := glance(t, n)
		if err != nil || len(st.Peers) == 0 || st.Peers[0].BFD == nil {
			return false, fmt.Sprintf("%v, %+v", err, st.Peers)
		}
		p = st.Peers[0]
		return ok(p), fmt.Sprintf("%+v, bfd %+v", p, *p.BFD)
	})
	return p
}

// TestFrozenNode has a node fall silent whole: no process runs, no packet comes
// out, no carrier is lost. Its router sends the clients elsewhere by BFD alone;
// thawed, the node comes back and answers.
func TestFrozenNode(t *testing.T) {
	t.Parallel()
	for _, c := range paces {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, router string) {
				lab := guarded(t, topology.Options{Router: router, BFD: &c.bfd}, nil)
				n := lab.Nodes[0]
				d := silenced(t, lab, n, n.Freeze)
				t.Logf("frozen: next hop gone after %v (design: %v)", d, c.aim)
				if d > c.bound {
					t.Errorf("next hop gone only after %v", d)
				}
				announced(t, lab, lab.Nodes[1])
				must(t, n.Thaw())
				announced(t, lab, lab.Nodes...)
				serves(t, lab, n)
			})
		})
	}
}

// silenced lets something befall a node that is announced and whose BFD is up,
// and returns the time until its next hop has left the router's kernel.
func silenced(t testing.TB, lab *topology.Lab, n *topology.Node, fault func() error) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := lab.Router.Watch(ctx)
	must(t, err)
	begin := time.Now()
	must(t, fault())
	return after(t, events, anycast4, n.V4, false).Sub(begin).Round(time.Millisecond)
}

// serves asks the service from new source ports until that node answers.
func serves(t testing.TB, lab *topology.Lab, n *topology.Node) {
	t.Helper()
	eventually(t, "an answer of "+n.ShortName, func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m, err := lab.Client.Ask(ctx, anycast4.Addr(), "nas.lan.", dns.TypeA)
		if err != nil || m.IsEdns0() == nil || len(m.IsEdns0().Option) == 0 {
			return false, fmt.Sprint(err)
		}
		who := m.IsEdns0().Option[0].String()
		return who == fmt.Sprintf("%x", n.ShortName), who
	})
}

// TestSilentAgent stops the agent alone: the kernel goes on to acknowledge what
// the router says, and the resolver to answer. BFD is the agent's word that it
// decides, so the route goes; and comes back with it.
func TestSilentAgent(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := guarded(t, topology.Options{Router: router}, nil)
		n := lab.Nodes[0]
		d := silenced(t, lab, n, n.Agent.Stop)
		t.Logf("agent stopped: next hop gone after %v", d)
		if d > paces[0].bound {
			t.Errorf("next hop gone only after %v", d)
		}
		must(t, n.Agent.Cont())
		announced(t, lab, lab.Nodes...)
		serves(t, lab, n)
	})
}

// TestSilentRouter has the router fall silent, and its daemons die. The node
// knows by BFD, says so, and is back when the router is.
func TestSilentRouter(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := guarded(t, topology.Options{Router: router}, nil)
		n := lab.Nodes[0]
		t.Run("frozen", func(t *testing.T) {
			begin := time.Now()
			must(t, lab.Router.Freeze())
			p := beside(t, n, "that BFD was lost", func(p control.Peer) bool {
				return p.State != "ESTABLISHED" && p.BFD.State == "DOWN"
			})
			d := time.Since(begin)
			t.Logf("router frozen: said after %v", d.Round(time.Millisecond))
			if last := p.BFD.Transitions[len(p.BFD.Transitions)-1]; last.From != "UP" || d > paces[0].bound {
				t.Errorf("after %v: last transition %+v", d, last)
			}
			says(t, n, "withdrawn", func(s control.Service) bool { return s.Stance == "withdrawn" })
			p = beside(t, n, "why BFD is down", func(p control.Peer) bool { return p.BFD.Error != "" })
			t.Logf("status: %q; %q", p.Error, p.BFD.Error)
			must(t, lab.Router.Thaw())
			announced(t, lab, lab.Nodes...)
		})
		t.Run("killed", func(t *testing.T) {
			must(t, lab.Router.Kill())
			p := beside(t, n, "that BFD is down", func(p control.Peer) bool {
				return p.BFD.State == "DOWN" && p.State != "ESTABLISHED" && p.BFD.Error != ""
			})
			t.Logf("status: %q; %q", p.Error, p.BFD.Error)
			if router == topology.FRR { // BIRD takes its own leftovers out by itself
				reboot(t, lab.Router)
			}
			must(t, lab.Router.Start(t.Context()))
			announced(t, lab, lab.Nodes...)
		})
	})
}

// TestRouterAdminDown takes BFD down on the router by its operator's hand. That
// says nothing about the path: what becomes of BGP is the router's choice, and
// the node does not add to it.
func TestRouterAdminDown(t *testing.T) {
	t.Parallel()
	lab := guarded(t, topology.Options{}, nil)
	n := lab.Nodes[0]
	w := capture(t, n)
	shutdown := func(word string) {
		_, err := lab.Router.Run(t.Context(), "vtysh", "--vty_socket", lab.Router.Dir, "-c", "configure terminal",
			"-c", "bfd", "-c", "profile recuse-300-3", "-c", word)
		must(t, err)
	}
	shutdown("shutdown")
	p := beside(t, n, "AdminDown", func(p control.Peer) bool { return p.BFD.Remote == "ADMIN_DOWN" })
	if last := p.BFD.Transitions[len(p.BFD.Transitions)-1]; last.To != "DOWN" || !strings.Contains(last.Reason, "operator") {
		t.Errorf("last transition %+v", last)
	}
	// FRR drops BGP for it; neither side may then keep it from coming back.
	p = beside(t, n, "established without BFD", func(p control.Peer) bool {
		return p.State == "ESTABLISHED" && p.BFD.State == "DOWN" && p.BFD.Error != ""
	})
	onlyRouted(t, lab, lab.Nodes...)
	t.Logf("status: %q; %q", p.Error, p.BFD.Error)
	list := w.sent(func(l []message) bool { return true })
	for _, m := range list {
		if m.Kind == "notification" {
			t.Errorf("the node closed BGP: %q", m.Text)
		}
	}
	shutdown("no shutdown")
	announced(t, lab, lab.Nodes...)
}

// onlyRouted waits until the router's kernel has exactly these nodes, whatever
// BFD does.
func onlyRouted(t testing.TB, lab *topology.Lab, nodes ...*topology.Node) {
	t.Helper()
	must(t, lab.WaitNextHops(t.Context(), patience, lab.Router, nodes...))
}

// TestBlockedBFD drops BFD's port, both ways, beside a session that comes up
// all the same: the node serves, and says what is missing and why.
func TestBlockedBFD(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		o := topology.Options{Router: router, Nodes: 2, BFD: &paces[0].bfd, WithoutAgent: true}
		lab := network(t, o, nil)
		walls := []*topology.Host{lab.Router.Host, lab.Nodes[0].Host, lab.Nodes[1].Host}
		for _, h := range walls {
			rules(t, h, "udp dport 3784 drop") // as a firewall does that knows nothing of BFD
		}
		for _, n := range lab.Nodes {
			must(t, n.Agent.Start())
		}
		onlyRouted(t, lab, lab.Nodes...)
		n := lab.Nodes[0]
		p := beside(t, n, "why BFD is down", func(p control.Peer) bool {
			return p.State == "ESTABLISHED" && p.BFD.Error != ""
		})
		t.Logf("status: %q", p.BFD.Error)
		if !strings.Contains(p.BFD.Error, "never came up") || !strings.Contains(p.BFD.Error, "3784") || p.BFD.State != "DOWN" {
			t.Errorf("BFD %+v", *p.BFD)
		}
		since := p.Since
		lasts(t, 3*time.Second, "the same BGP session", func() (bool, string) {
			p := beside(t, n, "anything", func(control.Peer) bool { return true })
			return p.State == "ESTABLISHED" && p.Since.Equal(since), fmt.Sprintf("%+v", p)
		})
		for _, h := range walls {
			unruled(t, h)
		}
		announced(t, lab, lab.Nodes...)
	})
}

// TestSecureBFD has GTSM beside BFD. FRR 8.4 takes that for multihop (RFC 5883,
// port 4784), BIRD for a single hop: the node goes with each.
func TestSecureBFD(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := guarded(t, topology.Options{Router: router, TTLSecurity: true, Password: "right"}, nil)
		n := lab.Nodes[0]
		p := beside(t, n, "up", func(p control.Peer) bool { return p.BFD.State == "UP" })
		if want := router == topology.FRR; p.BFD.Multihop != want {
			t.Errorf("multihop %v, want %v", p.BFD.Multihop, want)
		}
		d := silenced(t, lab, n, n.Freeze)
		t.Logf("frozen: next hop gone after %v", d)
		if d > paces[0].bound {
			t.Errorf("next hop gone only after %v", d)
		}
		must(t, n.Thaw())
		announced(t, lab, lab.Nodes...)
		for _, n := range lab.Nodes {
			stop(t, n)
		}
	})
}
