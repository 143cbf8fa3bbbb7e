package lab_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/load"
	"recuse/lab/topology"
)

// both runs a test behind each kind of router, at once, and beside other tests:
// it mostly waits.
func both(t *testing.T, f func(t *testing.T, router string)) {
	t.Parallel()
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			t.Parallel()
			f(t, router)
		})
	}
}

// frrGap is for how long FRR 8.4 may have no IPv6 route when it changes one:
// unless zebra runs with --v6-rr-semantics it deletes the old one first.
const frrGap = 100 * time.Millisecond

// covered fails the test if, while f runs, any router's kernel is for a moment
// without a route of a service address.
func covered(t testing.TB, lab *topology.Lab, f func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	watches := map[*topology.Router]<-chan topology.RouteEvent{}
	for _, r := range lab.Routers {
		events, err := r.Watch(ctx)
		must(t, err)
		watches[r] = events
	}
	f()
	cancel()
	for r, events := range watches {
		uncovered(t, r, events)
	}
}

// uncovered reports the gaps in a router's routes of the service addresses.
func uncovered(t testing.TB, r *topology.Router, events <-chan topology.RouteEvent) {
	t.Helper()
	since := map[netip.Prefix]time.Time{} // of the gaps that are open
	var longest time.Duration             // of those that are FRR's own
	end := func(p netip.Prefix, at time.Time) {
		d := at.Sub(since[p])
		longest = max(longest, d)
		if !p.Addr().Is6() || r.Kind != topology.FRR || d > frrGap {
			t.Errorf("%s had no route of %s for %v", r.ShortName, p, d)
		}
		delete(since, p)
	}
	for e := range events {
		_, open := since[e.Prefix]
		switch {
		case !slices.Contains(topology.DefaultAddresses(), e.Prefix):
		case len(e.NextHops) == 0 && !open:
			since[e.Prefix] = e.At
		case len(e.NextHops) > 0 && open:
			end(e.Prefix, e.At)
		}
	}
	for p := range since {
		end(p, time.Now())
	}
	if longest > 0 {
		t.Logf("%s changed a route by way of none for up to %v", r.ShortName, longest)
	}
}

// stance waits until the nodes say that they stand so.
func stance(t testing.TB, want string, nodes ...*topology.Node) {
	t.Helper()
	for _, n := range nodes {
		says(t, n, want, func(s control.Service) bool { return s.Stance == want })
	}
}

// settled waits until all nodes serve, and until a router's silence about other
// nodes counts as its word. BIRD sends no End-of-RIB to a peer that knows of no
// graceful restart, so its silence is taken for one.
func settled(t testing.TB, lab *topology.Lab) {
	t.Helper()
	serving(t, lab)
	if lab.Router.Kind == topology.BIRD {
		pass(t, 4*time.Second)
	}
}

// fails makes the home zone fail towards these nodes' resolvers; None ends it.
func fails(t testing.TB, lab *topology.Lab, f authority.Failure, nodes ...*topology.Node) {
	t.Helper()
	must(t, lab.Authority.SetFor(t.Context(), authority.LAN, authority.Behaviour{Failure: f}, nodes...))
}

// known are names that a resolver answers without the home zone: the internet's,
// and one of the house that it has cached.
func known() load.Mix { return append(internet(), authority.Hosts()[1]) }

// reported ends a client whose losses are measured and bounded by nobody.
func reported(t testing.TB, client *asker, what string) load.Figures {
	t.Helper()
	f := client.end()
	t.Logf("%s: %d questions, %d lost, %d failures, longest gap %v, p99 %v", what, f.Asked, f.Lost, f.Bad,
		f.WorstGap.Round(time.Millisecond), f.P99)
	return f
}

// pass lets time pass in which nothing is looked at, but by those who watch.
func pass(t testing.TB, d time.Duration) {
	t.Helper()
	lasts(t, d, "time pass", func() (bool, string) { return true, "" })
}

// moved is when the first router's kernel lost, or got, a node as a next hop,
// from a start.
func moved(t testing.TB, events <-chan topology.RouteEvent, n *topology.Node, want bool, start time.Time) time.Duration {
	t.Helper()
	return after(t, events, anycast4, n.V4, want).Sub(start).Round(time.Millisecond)
}

// watch tells the changes in the first router's kernel.
func watch(t testing.TB, lab *topology.Lab) <-chan topology.RouteEvent {
	t.Helper()
	events, err := lab.Router.Watch(t.Context())
	must(t, err)
	return events
}

// does runs a command of recuse on a node that must succeed.
func does(t testing.TB, n *topology.Node, args ...string) string {
	t.Helper()
	code, out := command(t, n, append(args, "-c", n.Path(topology.ConfigFile))...)
	if code != 0 {
		t.Fatalf("recuse %s on %s: exit code %d: %s", strings.Join(args, " "), n.ShortName, code, out)
	}
	return out
}

// refuses runs a command of recuse on a node that must fail and say the texts.
func refuses(t testing.TB, n *topology.Node, says []string, args ...string) {
	t.Helper()
	code, out := command(t, n, append(args, "-c", n.Path(topology.ConfigFile))...)
	if code != 1 {
		t.Errorf("recuse %s on %s: exit code %d, want 1: %s", strings.Join(args, " "), n.ShortName, code, out)
	}
	for _, text := range says {
		if !strings.Contains(out, text) {
			t.Errorf("recuse %s says nothing of %q: %s", strings.Join(args, " "), text, out)
		}
	}
}

// hopsOf waits until a router's kernel has exactly these nodes as next hops of
// an address.
func hopsOf(t testing.TB, r *topology.Router, p netip.Prefix, nodes ...*topology.Node) {
	t.Helper()
	var want []netip.Addr
	for _, n := range nodes {
		want = append(want, map[bool]netip.Addr{true: n.V6, false: n.V4}[p.Addr().Is6()])
	}
	hops(t, r, p, want...)
}

// tells looks that the decisions that a node's agent tells have all the texts.
func tells(t testing.TB, n *topology.Node, texts ...string) {
	t.Helper()
	out := does(t, n, "events")
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("recuse events on %s says nothing of %q: %s", n.ShortName, text, out)
		}
	}
}
