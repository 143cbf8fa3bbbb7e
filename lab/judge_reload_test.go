package lab_test

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// TestReload changes what nodes are told while they serve: the sessions stay,
// what does not change is not touched, and what would cost a route is refused.
func TestReload(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := guarded(t, topology.Options{Router: router, BFD: &patientBFD}, func(node int, c tree) {
			second(node, c)
			unhurried(c)
		})
		settled(t, lab)
		for _, part := range []struct {
			name string
			run  func(t testing.TB, lab *topology.Lab)
		}{
			{"by an operator", func(t testing.TB, lab *topology.Lab) { operates(t, lab, 300) }},
			{"an address less and more", reloadAddress},
			{"SIGHUP with a broken file", reloadBroken},
		} {
			t.Run(part.name, func(t *testing.T) {
				serving(t, lab)
				part.run(t, lab)
			})
		}
	})
}

// session tells one session with the router from the next.
func session(t testing.TB, n *topology.Node) string {
	t.Helper()
	st, _ := status(t, n)
	return fmt.Sprint(st.Peers[0].State, " since ", st.Peers[0].Since)
}

// operates does on the first node all that an operator does to a service that
// clients use, at so many questions a second: none is lost, each change is one
// UPDATE for each route that it concerns, and the sessions with the router are
// the same until the agent is restarted.
func operates(t testing.TB, lab *topology.Lab, rate float64) {
	t.Helper()
	n := lab.Nodes[0]
	before, client, begin := tied(t, lab.Router, n), asking(t, lab, rate), time.Now()
	covered(t, lab, func() {
		for _, change := range []func(testing.TB, *topology.Lab){communities, serviceGoes, serviceComes, drains, undrains} {
			change(t, lab)
			sameSessions(t, lab.Router, n, before)
		}
		stop(t, n)
		announced(t, lab, others(lab, n)...)
		must(t, n.Agent.Start())
		serving(t, lab)
		pass(t, 300*time.Millisecond)
	})
	lossless(t, client, int(time.Since(begin).Seconds()*rate*0.8))
}

// changes makes a change on the first node, and compares what it tells the
// router of these routes with what it should.
func changes(t testing.TB, lab *topology.Lab, change func(), want string, of ...netip.Prefix) {
	t.Helper()
	w := capture(t, lab.Nodes[0])
	change()
	pass(t, 500*time.Millisecond) // for what should not come
	w.told(want, of...)
}

// communities changes an attribute of all routes.
func communities(t testing.TB, lab *topology.Lab) {
	n := lab.Nodes[0]
	never(t, lab.Router, anycast4, func() {
		changes(t, lab, func() {
			must(t, n.Reconfigure(func(c tree) { c["bgp"].(tree)["communities"] = []string{"65000:77"} }))
			if out := does(t, n, "reload", "--dry-run"); !strings.Contains(out, "65000:77") || strings.Contains(out, "applied") {
				t.Errorf("dry run: %s", out)
			}
			does(t, n, "reload")
			does(t, n, "reload") // no change
		}, "announce", anycast4, anycast6, web4, web6)
		question, want := "show bgp ipv4 unicast "+anycast4.String(), "65000:77"
		if lab.Router.Kind == topology.BIRD {
			question, want = "show route for "+anycast4.String()+" all", "(65000,77)"
		}
		if out := show(t, lab.Router, question); !strings.Contains(out, want) {
			t.Errorf("no community on %s: %s", lab.Router.ShortName, out)
		}
	})
}

// serviceGoes takes the second service out of the configuration: refused while
// it is announced, done while it is drained.
func serviceGoes(t testing.TB, lab *topology.Lab) {
	n, o := lab.Nodes[0], lab.Nodes[1]
	never(t, lab.Router, anycast4, func() {
		changes(t, lab, func() {
			must(t, n.Reconfigure(func(c tree) { c["services"] = c["services"].([]any)[:1] }))
			never(t, lab.Router, web4, func() {
				refuses(t, n, []string{"services[web]", "announced", "--allow-withdraw"}, "reload")
			})
			if st, _ := status(t, n); len(st.Services) != 2 || st.Config.LastReloadOK {
				t.Errorf("after a refused reload: %d services, ok %v", len(st.Services), st.Config.LastReloadOK)
			}
			does(t, n, "drain", "web", "--socket", n.Path("recuse.sock"))
			does(t, n, "reload")
		}, "depreference withdraw", web4, web6)
		if st, code := status(t, n); len(st.Services) != 1 || !st.Config.LastReloadOK || code != 0 {
			t.Errorf("after the reload: %+v, exit code %d", st, code)
		}
		if _, out := program(t, n, "ip", "link", "show", "anycast1"); !strings.Contains(out, "does not exist") {
			t.Errorf("the link was left: %s", out)
		}
		hops(t, lab.Router, web4, o.V4)
	})
}

// serviceComes puts the second service into the configuration again; not with
// the link or an address of the first.
func serviceComes(t testing.TB, lab *topology.Lab) {
	n, o := lab.Nodes[0], lab.Nodes[1]
	with := func(change func(web tree)) {
		must(t, n.Reconfigure(func(c tree) {
			second(0, c)
			unhurried(c)
			change(service(c, 1))
			c["services"] = []any{service(c, 0), service(c, 1)}
		}))
	}
	never(t, lab.Router, anycast4, func() {
		changes(t, lab, func() {
			with(func(web tree) { web["link"].(tree)["name"] = topology.AgentLink })
			refuses(t, n, []string{"services[1].link.name", topology.AgentLink, "give each service its own"}, "reload")
			must(t, n.Reconfigure(func(c tree) { c["services"] = c["services"].([]any)[:1] }))
			with(func(web tree) { web["addresses"] = []string{web4.String(), anycast6.String()} })
			refuses(t, n, []string{"services[1].addresses[1]", "two services share no address"}, "reload")
			must(t, n.Reconfigure(func(c tree) { c["services"] = c["services"].([]any)[:1] }))
			with(func(tree) {})
			does(t, n, "reload")
			hops(t, lab.Router, web4, n.V4, o.V4)
			hops(t, lab.Router, web6, n.V6, o.V6)
		}, "announce", web4, web6)
	})
}

// drains takes the first service out by command.
func drains(t testing.TB, lab *topology.Lab) {
	n := lab.Nodes[0]
	never(t, lab.Router, web4, func() {
		changes(t, lab, func() {
			start := time.Now()
			does(t, n, "drain", "dns")
			t.Logf("drained after %v", time.Since(start).Round(time.Millisecond))
			says(t, n, "drained and down", func(s control.Service) bool {
				return s.Admin == "drained" && s.Stance == "withdrawn" && !s.Link.Up && len(s.Others) > 0 && s.OthersKnown == "seen"
			})
		}, "depreference withdraw", anycast4, anycast6)
		announced(t, lab, others(lab, n)...)
	})
}

// undrains puts it back.
func undrains(t testing.TB, lab *topology.Lab) {
	n := lab.Nodes[0]
	never(t, lab.Router, web4, func() {
		changes(t, lab, func() {
			does(t, n, "undrain", "dns")
			serving(t, lab)
		}, "announce", anycast4, anycast6)
	})
}

// reloadAddress takes an address of a service away: refused, also by SIGHUP,
// and done in order when it is allowed; and puts it back.
func reloadAddress(t testing.TB, lab *topology.Lab) {
	n, o := lab.Nodes[0], lab.Nodes[1]
	set := func(addresses ...string) {
		must(t, n.Reconfigure(func(c tree) { service(c, 0)["addresses"] = addresses }))
	}
	client := asking(t, lab, 500)
	never(t, lab.Router, anycast6, func() {
		set(anycast4.String())
		log := len(n.Agent.Log())
		refuses(t, n, []string{"services[dns].addresses", anycast6.String(), "--allow-withdraw"}, "reload")
		must(t, n.Agent.Signal(syscall.SIGHUP))
		logged(t, n, log, "reload refused", anycast6.String())
	})
	pid := n.Agent.PID()
	does(t, n, "reload", "--allow-withdraw")
	hops(t, lab.Router, anycast6, o.V6)
	hops(t, lab.Router, anycast4, n.V4, o.V4)
	if n.Agent.PID() != pid || !n.Agent.Running() {
		t.Error("the process has ended")
	}
	before := session(t, n)
	set(anycast4.String(), anycast6.String())
	does(t, n, "reload")
	serving(t, lab)
	if after := session(t, n); after != before {
		t.Errorf("session %s, was %s", after, before)
	}
	lossless(t, client, 250)
}

// reloadBroken has a file that is none change nothing, and be told.
func reloadBroken(t testing.TB, lab *topology.Lab) {
	n := lab.Nodes[0]
	path, log := n.Path(topology.ConfigFile), len(n.Agent.Log())
	right, err := os.ReadFile(path)
	must(t, err)
	metric := func(want string) {
		t.Helper()
		eventually(t, "the metric", func() (bool, string) {
			_, out := program(t, n, "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9953; "+
				`printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3`)
			return strings.Contains(out, "\nrecuse_config_last_reload_successful "+want+"\n"), out
		})
	}
	metric("1")
	before := session(t, n)
	never(t, lab.Router, anycast4, func() {
		must(t, os.WriteFile(path, []byte("bgp: {asn: 0}\nservices: []\n"), 0o600))
		must(t, n.Agent.Signal(syscall.SIGHUP))
		logged(t, n, log, "reload refused", "bgp.asn")
		metric("0")
		must(t, os.WriteFile(path, right, 0o600))
		must(t, n.Agent.Signal(syscall.SIGHUP))
		metric("1")
	})
	if after := session(t, n); after != before {
		t.Errorf("session %s, was %s", after, before)
	}
}
