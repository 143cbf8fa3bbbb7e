package topology_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestAuthorityFaults makes one zone late, wrong and silent; the other stays
// as it is, and the authority counts whom a fault has met.
func TestAuthorityFaults(t *testing.T) {
	lab := labtest.StartBare(t, topology.Options{Nodes: 1})
	ctx, n := t.Context(), lab.Nodes[0]
	const delay = 300 * time.Millisecond
	if err := lab.Authority.SetDelay(ctx, authority.LAN, delay); err != nil {
		t.Fatal(err)
	}
	if d := took(t, n, "late.lan."); d < delay {
		t.Errorf("an answer that is to be %v late took %v", delay, d)
	}
	if d := took(t, n, "a.fresh.internet.example."); d >= delay {
		t.Errorf("the zone that is not late took %v", d)
	}
	// A resolver asks again many times before it passes a SERVFAIL on, so each
	// of them must come at once.
	if err := lab.Authority.SetDelay(ctx, authority.LAN, 0); err != nil {
		t.Fatal(err)
	}
	if err := lab.Authority.SetFailure(ctx, authority.LAN, authority.ServFail); err != nil {
		t.Fatal(err)
	}
	if got, want := ask(t, lab.Client.Host, n.V4, "wrong.lan.", dns.TypeA), by("SERVFAIL", 0, "n1"); got != want {
		t.Errorf("answer %s, want %s", got, want)
	}
	if err := lab.Authority.SetFailure(ctx, authority.LAN, authority.Drop); err != nil {
		t.Fatal(err)
	}
	silent(t, lab.Client.Host, n.V4)
	zones, err := lab.Authority.Zones(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if z := zones[authority.LAN]; z.Delay != 0 || z.Failure != authority.Drop || z.Failed < 2 {
		t.Errorf("the zone's state is %+v", z)
	}
	if z := zones[authority.Internet]; z.Failed != 0 {
		t.Errorf("the other zone's state is %+v", z)
	}
	if err := lab.Authority.SetFailure(ctx, authority.LAN, authority.None); err != nil {
		t.Fatal(err)
	}
	// infra-host-ttl: 1 lets the resolver come back at once.
	if err := topology.Within(ctx, soon, "lan. answered again", func() (bool, string) {
		got := ask(t, lab.Client.Host, n.V4, "back.lan.", dns.TypeA)
		return got == by("NXDOMAIN", 0, "n1"), got
	}); err != nil {
		t.Error(err)
	}
}

// took is how long the client waits for an answer of the node.
func took(t *testing.T, n *topology.Node, name string) time.Duration {
	t.Helper()
	start := time.Now()
	ask(t, n.Host, n.V4, name, dns.TypeA)
	return time.Since(start)
}

// TestFreeze shows that a frozen node says nothing, not even its hardware
// address, while no end of its cable loses its carrier; and that it comes back.
func TestFreeze(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 2})
	ctx, n := t.Context(), lab.Nodes[0]
	if err := n.Freeze(); err != nil {
		t.Fatal(err)
	}
	silent(t, lab.Client.Host, n.V4)
	silent(t, lab.Client.Host, n.V6)
	if state := procState(t, n.Resolver.PID()); state != "T" {
		t.Errorf("the frozen resolver is in state %s, want T", state)
	}
	if _, err := lab.Router.Run(ctx, "ip", "neighbour", "flush", "dev", "lan0"); err != nil {
		t.Fatal(err)
	}
	silent(t, lab.Client.Host, n.V4)
	out, err := lab.Router.Run(ctx, "ip", "neighbour", "show", n.V4.String())
	if err != nil || strings.Contains(out, "lladdr") {
		t.Errorf("the router learned of the frozen node: %q, %v", out, err)
	}
	for _, h := range []*topology.Host{lab.Router.Host, n.Host} {
		out, err := h.Run(ctx, "ip", "link", "show", "dev", "lan0")
		if err != nil || !strings.Contains(out, "LOWER_UP") {
			t.Errorf("%s sees its carrier so: %q, %v", h.ShortName, out, err)
		}
	}
	if got, want := ask(t, lab.Client.Host, lab.Nodes[1].V4, "x.lan.", dns.TypeA), by("NXDOMAIN", 0, "n2"); got != want {
		t.Errorf("the other node answers %s, want %s", got, want)
	}
	if err := n.Thaw(); err != nil {
		t.Fatal(err)
	}
	if got, want := ask(t, lab.Client.Host, n.V4, "y.lan.", dns.TypeA), by("NXDOMAIN", 0, "n1"); got != want {
		t.Errorf("the thawed node answers %s, want %s", got, want)
	}
}

// procState is the state letter of a process.
func procState(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

// TestProcess takes a daemon through all that the lab can do to it.
func TestProcess(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 1})
	n, r := lab.Nodes[0], lab.Nodes[0].Resolver
	if err := r.Start(); err == nil {
		t.Error("a second start of a running process is no error")
	}
	if _, err := r.ExitCode(); err == nil {
		t.Error("a running process has an exit code")
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	silent(t, n.Host, n.V4)
	if err := r.Cont(); err != nil {
		t.Fatal(err)
	}
	if got, want := ask(t, n.Host, n.V4, "x.lan.", dns.TypeA), by("NXDOMAIN", 0, "n1"); got != want {
		t.Errorf("after SIGCONT: %s, want %s", got, want)
	}
	if err := r.Kill(); err != nil {
		t.Fatal(err)
	}
	if code, err := r.ExitCode(); r.Running() || code != -1 || err != nil {
		t.Errorf("killed: running %v, exit code %d, %v", r.Running(), code, err)
	}
	if err := r.Cont(); err == nil {
		t.Error("a signal to a dead process is no error")
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	if err := n.WaitResolver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	// A frozen process is ended too, in order.
	if err := r.End(); err != nil || r.Running() {
		t.Errorf("ended: running %v, %v", r.Running(), err)
	}
	if code, err := r.ExitCode(); code != 0 || err != nil {
		t.Errorf("ended with exit code %d, %v; log:\n%s", code, err, r.Log())
	}
}
