package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/topology"
)

// serveStale makes a resolver keep a fixed name for a second and then serve it
// stale for as long as it cannot do better.
const serveStale = "serve-expired: yes\ncache-max-ttl: 1"

// TestYield has nodes lose the home zone, one and all, in every order: a node
// leaves only to those who serve better.
func TestYield(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := network(t, topology.Options{Router: router, ResolverExtra: serveStale}, nil)
		settled(t, lab)
		for _, f := range []authority.Failure{authority.ServFail, authority.Drop} {
			t.Run("one node: "+string(f), func(t *testing.T) { oneYields(t, lab, f) })
		}
		t.Run("all nodes", func(t *testing.T) { allYield(t, lab) })
		t.Run("one after the other", func(t *testing.T) { staggered(t, lab) })
		t.Run("power returns", func(t *testing.T) { powerReturns(t, lab) })
	})
}

// oneYields takes the home zone from one node: it is second choice at once,
// withdraws once the others have been seen, and a client of known names feels
// nothing of it.
func oneYields(t *testing.T, lab *topology.Lab, f authority.Failure) {
	n := lab.Nodes[0]
	client, seen := askingFor(t, lab, 200, known()), watch(t, lab)
	w := capture(t, n)
	pass(t, time.Second) // the names become known
	covered(t, lab, func() {
		start := time.Now()
		fails(t, lab, f, n)
		gone := moved(t, seen, n, false, start)
		stance(t, "withdrawn", n)
		announced(t, lab, others(lab, n)...)
		t.Logf("next hop gone after %v, withdrawn within %v", gone, time.Since(start).Round(time.Millisecond))
		list := w.sent(func(l []message) bool { return count(l, "withdraw") >= 2 })
		first, _ := span(list, "depreference")
		if last, _ := span(list, "withdraw"); count(list, "depreference") != 2 || last.Sub(first) < 900*time.Millisecond {
			t.Errorf("withdrawn %v after the depreference, want a yield_wait of 1s: %+v", last.Sub(first), list)
		}
		tells(t, n, "depreferred  sick: ", "3 failures in a row", "others-serve: ", "(others: seen)", "    local-name is sick: ")
		fails(t, lab, authority.None, n)
		serving(t, lab)
	})
	lossless(t, client, 500)
}

// allYield takes the home zone from all nodes at once: nobody leaves. One is
// repaired and serves alone; it dies, and the two others come back as second
// choice; all are repaired.
func allYield(t *testing.T, lab *topology.Lab) {
	n1, n2, n3 := lab.Nodes[0], lab.Nodes[1], lab.Nodes[2]
	client := askingFor(t, lab, 200, known())
	pass(t, time.Second) // the names become known
	covered(t, lab, func() {
		fails(t, lab, authority.ServFail, lab.Nodes...)
		stance(t, "depreferred", lab.Nodes...)
		stay(t, lab, 2*time.Second, lab.Nodes...)
		fails(t, lab, authority.None, n2)
		announced(t, lab, n2)
		for _, n := range []*topology.Node{n1, n3} {
			says(t, n, "withdrawn and down", func(s control.Service) bool { return s.Phase == "down" })
		}
	})
	lossless(t, client, 600)
	client = askingFor(t, lab, 200, internet())
	start := time.Now()
	must(t, n2.Resolver.Kill())
	announced(t, lab, n1, n3)
	t.Logf("two came back %v after the death of the third", time.Since(start).Round(time.Millisecond))
	stance(t, "depreferred", n1, n3)
	reported(t, client, "the last good one dies")
	covered(t, lab, func() {
		must(t, n2.Resolver.Start())
		fails(t, lab, authority.None, lab.Nodes...)
		serving(t, lab)
	})
}

// staggered takes the home zone from all nodes, a moment apart, so that some
// have withdrawn when the last one falls: they come back.
func staggered(t *testing.T, lab *topology.Lab) {
	client := askingFor(t, lab, 200, internet())
	covered(t, lab, func() {
		for _, n := range lab.Nodes {
			fails(t, lab, authority.ServFail, n)
			pass(t, 1700*time.Millisecond)
		}
		stance(t, "depreferred", lab.Nodes...)
		announced(t, lab, lab.Nodes...)
		fails(t, lab, authority.None, lab.Nodes...)
		serving(t, lab)
	})
	lossless(t, client, 900)
}

// powerReturns has all boxes lose their power and return during a fault that
// they share.
func powerReturns(t *testing.T, lab *topology.Lab) {
	fails(t, lab, authority.ServFail, lab.Nodes...)
	for _, n := range lab.Nodes {
		must(t, n.Agent.Kill())
		must(t, n.Resolver.Kill())
	}
	announced(t, lab)
	start := time.Now()
	for _, n := range lab.Nodes {
		must(t, n.Resolver.Start())
		must(t, n.Agent.Start())
	}
	announced(t, lab, lab.Nodes...)
	d := time.Since(start)
	t.Logf("three next hops %v after the start (design: 15s)", d.Round(time.Millisecond))
	if d > 15*time.Second {
		t.Errorf("three next hops only %v after the start", d)
	}
	stance(t, "depreferred", lab.Nodes...)
	fails(t, lab, authority.None, lab.Nodes...)
	serving(t, lab)
}

// TestRestartedAtOnce restarts all resolvers at once, as a synchronised
// configuration does, with the default pace of the checks: clients wait for the
// resolvers and hardly longer.
func TestRestartedAtOnce(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := network(t, topology.Options{Router: router}, func(_ int, c tree) {
			for _, check := range service(c, 0)["checks"].([]any) {
				delete(check.(tree), "interval")
				delete(check.(tree), "timeout")
			}
		})
		settled(t, lab)
		client := askingFor(t, lab, 200, internet())
		pass(t, 500*time.Millisecond)
		start := time.Now()
		for _, n := range lab.Nodes {
			must(t, n.Resolver.Kill())
			must(t, n.Resolver.Start())
		}
		for _, n := range lab.Nodes {
			must(t, n.WaitResolver(t.Context()))
		}
		own := time.Since(start)
		serving(t, lab)
		f := reported(t, client, "all resolvers restarted")
		t.Logf("the resolvers' own gap %v", own.Round(time.Millisecond))
		if f.WorstGap > own+5*time.Second { // design: 1 s
			t.Errorf("nothing worked for %v, the resolvers were away for %v", f.WorstGap, own)
		}
	})
}

// TestSingle has every fault happen to the only node: whatever answers at all
// goes on to serve, and what has died comes back with the resolver.
func TestSingle(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := network(t, topology.Options{Router: router, Nodes: 1, ResolverExtra: serveStale}, nil)
		n := lab.Nodes[0]
		serving(t, lab)
		for _, f := range []authority.Failure{authority.ServFail, authority.Drop} {
			t.Run(string(f), func(t *testing.T) {
				client := askingFor(t, lab, 100, known())
				covered(t, lab, func() {
					pass(t, time.Second)
					fails(t, lab, f, n)
					stance(t, "depreferred", n)
					pass(t, 4*time.Second) // longer than silent_after and yield_wait
					stance(t, "depreferred", n)
					fails(t, lab, authority.None, n)
					serving(t, lab)
				})
				lossless(t, client, 400)
			})
		}
		t.Run("stale", func(t *testing.T) {
			must(t, n.Resolver.Kill())
			end := stale(t, n)
			stance(t, "depreferred", n)
			end()
			must(t, n.Resolver.Start())
			serving(t, lab)
		})
		t.Run("killed", func(t *testing.T) { singleDies(t, lab) })
		t.Run("cut short", func(t *testing.T) {
			refuses(t, n, []string{"no other node is seen to serve", "--force"}, "drain", "dns")
			serving(t, lab)
		})
	})
}

// singleDies kills the only resolver, and reports how long its return took.
func singleDies(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	must(t, n.Resolver.Kill())
	reason(t, n, "connection refused")
	announced(t, lab)
	start := time.Now()
	must(t, n.Resolver.Start())
	must(t, n.WaitResolver(t.Context()))
	own := time.Since(start)
	announced(t, lab, n)
	t.Logf("resolver back after %v, next hop after %v", own.Round(time.Millisecond),
		time.Since(start).Round(time.Millisecond))
	serving(t, lab)
	m, err := lab.Client.Ask(t.Context(), anycast4.Addr(), "nas.lan.", dns.TypeA)
	if err != nil || m.Rcode != dns.RcodeSuccess {
		t.Errorf("the client was told %v, %v", m, err)
	}
	says(t, n, "its return", func(s control.Service) bool { return !strings.Contains(s.Reason, "second choice") })
}
