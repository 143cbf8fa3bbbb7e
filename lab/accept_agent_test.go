package lab_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/authority"
	"recuse/lab/load"
	"recuse/lab/topology"
)

// sigterm asks an agent to leave in order; a second one, at once.
const sigterm = syscall.SIGTERM

// asker is a client that asks in the background.
type asker struct {
	stop context.CancelFunc
	done chan []load.Record
}

// asking begins to ask a service address, in open loop, with a new source port
// each time.
func asking(t testing.TB, lab *topology.Lab, rate float64) *asker {
	t.Helper()
	return askingFor(t, lab, rate, nil)
}

// internet are names that a resolver knows, or can find out, without the house.
func internet() load.Mix {
	return append(load.Mix(authority.Popular()), "{random}."+authority.Fresh, "{random}."+authority.Fresh)
}

// askingFor is asking with names of its own.
func askingFor(t testing.TB, lab *topology.Lab, rate float64, mix load.Mix) *asker {
	t.Helper()
	return askingAt(t, lab, anycast4.Addr(), rate, mix)
}

// askingAt is askingFor of any address.
func askingAt(t testing.TB, lab *topology.Lab, server netip.Addr, rate float64, mix load.Mix) *asker {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	a := &asker{stop: stop, done: make(chan []load.Record, 1)}
	go func() {
		records, _ := load.Run(ctx, load.Config{Rate: rate, Mix: mix, // ours, and right: no error
			Servers: []netip.AddrPort{netip.AddrPortFrom(server, 53)}, Clients: []load.Network{{Do: lab.Client.Do}}})
		a.done <- records
	}()
	return a
}

// end stops asking and returns what came of it.
func (a *asker) end() load.Figures {
	a.stop()
	return load.Summarize(<-a.done)
}

// TestAgent has the agent itself stop and die.
func TestAgent(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{WithoutAgent: true}, func(node int, c tree) {
		if node == 2 {
			service(c, 0)["drain"], service(c, 0)["settle"] = "1m", "10s"
		}
	})
	empty := map[*topology.Node]string{}
	for _, n := range lab.Nodes {
		empty[n] = box(t, n)
		must(t, n.Agent.Start())
	}
	announced(t, lab, lab.Nodes...)
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"SIGTERM", func(t *testing.T) { agentStops(t, lab); leavesNothing(t, lab.Nodes[0], empty[lab.Nodes[0]]) }},
		{"SIGKILL", func(t *testing.T) { agentKilled(t, lab) }},
		{"second SIGTERM", func(t *testing.T) { agentHurries(t, lab); leavesNothing(t, lab.Nodes[2], empty[lab.Nodes[2]]) }},
	} {
		t.Run(part.name, part.run)
	}
	for name, fault := range map[string]func(*topology.Node) error{
		"held":     func(n *topology.Node) error { return n.LinkDown(topology.AgentLink) },
		"dead":     func(n *topology.Node) error { return n.Resolver.Kill() },
		"deleting": func(n *topology.Node) error { return n.DeleteLink(topology.AgentLink) },
	} {
		t.Run("SIGTERM while "+name, func(t *testing.T) {
			n := lab.Nodes[0]
			serving(t, lab)
			must(t, fault(n))
			if name != "deleting" { // the agent stops while it puts the link back
				announced(t, lab, others(lab, n)...)
			}
			must(t, n.Agent.Signal(sigterm))
			ends(t, n, 0)
			if !n.Resolver.Running() {
				must(t, n.Resolver.Start())
			}
			leavesNothing(t, n, empty[n])
		})
	}
	t.Run("SIGTERM at the start", func(t *testing.T) {
		serving(t, lab)
		stop(t, lab.Nodes[0])
		stopsAtStart(t, lab.Nodes[0], empty[lab.Nodes[0]])
	})
}

// stopsAtStart stops an agent at moments of its start: whether it was before
// the program listened for signals or after, nothing is left.
func stopsAtStart(t *testing.T, n *topology.Node, empty string) {
	for ms := range 10 {
		must(t, n.Agent.Start())
		moment := time.NewTimer(time.Duration(5*ms) * time.Millisecond)
		<-moment.C
		must(t, n.Agent.Signal(sigterm))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		must(t, n.Agent.Wait(ctx))
		if d := cmp.Diff(empty, box(t, n)); d != "" {
			t.Errorf("stopped %d ms after the start, left on the box (-before +after):\n%s", 5*ms, d)
		}
		if _, err := os.Stat(n.Path("recuse.sock")); !os.IsNotExist(err) {
			t.Errorf("stopped %d ms after the start, control socket: %v", 5*ms, err)
		}
	}
}

// agentStops stops a node's agent in order, under load: the node is depreferred,
// withdrawn, and says good-bye, in this order, and no question is lost. Its
// agent is started again only in the first half of TestAgent.
func agentStops(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	w, l, client := capture(t, n), linkMonitor(t, n), asking(t, lab, 200)
	lasts(t, 500*time.Millisecond, "traffic", func() (bool, string) { return true, "" })
	must(t, n.Agent.Signal(sigterm))
	announced(t, lab, others(lab, n)...)
	ends(t, n, 0)
	lasts(t, 300*time.Millisecond, "traffic", func() (bool, string) { return true, "" })
	f := client.end()
	if f.Asked < 100 || f.Lost != 0 || f.Bad != 0 {
		t.Errorf("under the stop: %+v", f)
	}
	list := w.sent(func(l []message) bool { return count(l, "notification") > 0 })
	var kinds []string
	for _, m := range list {
		if m.Kind == "keepalive" {
			continue
		}
		if m.Kind == "notification" {
			m.Kind = m.Text
		}
		if kind := m.Kind + map[bool]string{true: " v6", false: ""}[m.Six]; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	want := []string{"depreference", "depreference v6", "withdraw", "withdraw v6", "6/2 recuse stops"}
	slices.Sort(kinds[:min(2, len(kinds))]) // the families in either order
	slices.Sort(kinds[min(2, len(kinds)):min(4, len(kinds))])
	if d := cmp.Diff(want, kinds); d != "" {
		t.Errorf("unexpected messages (-want +got):\n%s", d)
	}
	first, _ := span(list, "depreference")
	_, gone := span(list, "withdraw")
	bye, _ := span(list, "notification")
	down := l.down(topology.AgentLink)
	t.Logf("drain %v, settle %v, good-bye to link down %v; %d questions", gone.Sub(first), bye.Sub(gone),
		down.Sub(bye), f.Asked)
	if gone.Sub(first) < 250*time.Millisecond || bye.Sub(gone) < 150*time.Millisecond || down.Before(gone) {
		t.Errorf("drain %v (want 300ms), settle %v (want 200ms), link down %v after the withdrawal",
			gone.Sub(first), bye.Sub(gone), down.Sub(gone))
	}
}

// ends waits for the end of a node's agent, and its exit code.
func ends(t testing.TB, n *topology.Node, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, n.Agent.Wait(ctx))
	if code, err := n.Agent.ExitCode(); err != nil || code != want {
		t.Errorf("exit code %d (%v), want %d: %s", code, err, want, n.Agent.Log())
	}
}

// leavesNothing compares the box with what it was before the agent first ran,
// and starts the agent again.
func leavesNothing(t *testing.T, n *topology.Node, empty string) {
	t.Helper()
	if d := cmp.Diff(empty, box(t, n)); d != "" {
		t.Errorf("left on the box (-before +after):\n%s", d)
	}
	if _, err := os.Stat(n.Path("recuse.sock")); !os.IsNotExist(err) {
		t.Errorf("control socket: %v", err)
	}
	if _, code := status(t, n); code != 4 {
		t.Errorf("exit code of status %d, want 4", code)
	}
	must(t, n.Agent.Start())
}

// agentKilled kills a node's agent: the router drops the route at once, since
// the session's end is the kernel's to tell. What is left behind is taken over
// by the next start, which sets the link down until the checks have passed.
func agentKilled(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[1]
	serving(t, lab)
	events, err := lab.Router.Watch(t.Context())
	must(t, err)
	killed := time.Now()
	must(t, n.Agent.Kill())
	d := after(t, events, anycast4, n.V4, false).Sub(killed)
	t.Logf("agent killed: next hop gone after %v", d.Round(time.Millisecond))
	if d > 3*time.Second { // the hold time would be 9 s
		t.Errorf("next hop gone only after %v", d)
	}
	announced(t, lab, others(lab, n)...)
	if _, out := program(t, n, "ip", "-o", "addr", "show", topology.AgentLink); !strings.Contains(out, anycast4.String()) {
		t.Fatalf("the killed agent left nothing to adopt: %s", out)
	}
	l, w := linkMonitor(t, n), capture(t, n)
	must(t, n.Agent.Start())
	down := l.down(topology.AgentLink)
	announced(t, lab, lab.Nodes...)
	list := w.sent(func(l []message) bool { return count(l, "announce") >= 2 })
	if first, _ := span(list, "announce"); !down.Before(first) {
		t.Errorf("link set down %v after the announcement", down.Sub(first))
	}
	if lines := l.lines(" " + topology.AgentLink + ":"); !strings.Contains(lines[len(lines)-1], ",UP") {
		t.Errorf("announced with the link not up: %s", strings.Join(lines, ""))
	}
}

// agentHurries has a second SIGTERM cut short a drain of a minute.
func agentHurries(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[2]
	serving(t, lab)
	w := capture(t, n)
	must(t, n.Agent.Signal(sigterm))
	eventually(t, "drain", func() (bool, string) {
		st, code := status(t, n)
		return code == 3 && st.Services[0].Stance == "depreferred", fmt.Sprintf("%d %+v", code, st)
	})
	must(t, n.Agent.Signal(sigterm))
	announced(t, lab, others(lab, n)...)
	ends(t, n, 0)
	// Without a settle the good-bye may overtake the withdrawal, and means it.
	list := w.sent(func(l []message) bool { return count(l, "notification") > 0 })
	if count(list, "depreference") != 2 || list[len(list)-1].Text != "6/2 recuse stops" {
		t.Errorf("unexpected messages %+v", list)
	}
}
