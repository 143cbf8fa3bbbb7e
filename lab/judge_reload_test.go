package lab_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"recuse/lab/topology"
)

// TestReload changes what nodes are told while they serve: the sessions stay,
// what does not change is not touched, and what would cost a route is refused.
func TestReload(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 2}, second)
	settled(t, lab)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *topology.Lab)
	}{
		{"communities", reloadCommunities},
		{"a service less and more", reloadService},
		{"an address less and more", reloadAddress},
		{"SIGHUP with a broken file", reloadBroken},
	} {
		t.Run(part.name, func(t *testing.T) {
			serving(t, lab)
			part.run(t, lab)
		})
	}
}

// session tells one session with the router from the next.
func session(t *testing.T, n *topology.Node) string {
	t.Helper()
	st, _ := status(t, n)
	return fmt.Sprint(st.Peers[0].State, " since ", st.Peers[0].Since)
}

// reloadCommunities changes an attribute of all routes under load: one UPDATE
// for each route, none that withdraws, in the same session.
func reloadCommunities(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	before := session(t, n)
	client, w := asking(t, lab, 500), capture(t, n)
	never(t, lab.Router, anycast4, func() {
		must(t, n.Reconfigure(func(c tree) { c["bgp"].(tree)["communities"] = []string{"65000:77"} }))
		if out := does(t, n, "reload", "--dry-run"); !strings.Contains(out, "65000:77") || strings.Contains(out, "applied") {
			t.Errorf("dry run: %s", out)
		}
		does(t, n, "reload")
		eventually(t, "the community in FRR", func() (bool, string) {
			out, err := lab.Router.Show(t.Context(), "show bgp ipv4 unicast "+anycast4.String())
			return err == nil && strings.Contains(out, "65000:77"), out
		})
	})
	list := w.sent(func(l []message) bool { return count(l, "announce") >= 2 })
	if n := count(list, "announce"); n > 4 || count(list, "withdraw")+count(list, "depreference") > 0 {
		t.Errorf("%d UPDATEs for four routes: %+v", n, list)
	}
	does(t, n, "reload") // no change
	if after := session(t, n); after != before {
		t.Errorf("session %s, was %s", after, before)
	}
	pass(t, 500*time.Millisecond)
	lossless(t, client, 250)
}

// reloadService takes a service out of the configuration: refused while it is
// announced, done while it is drained; and puts it in again.
func reloadService(t *testing.T, lab *topology.Lab) {
	n, o := lab.Nodes[0], lab.Nodes[1]
	before := session(t, n)
	var web any
	client := asking(t, lab, 200)
	never(t, lab.Router, anycast4, func() {
		must(t, n.Reconfigure(func(c tree) {
			list := c["services"].([]any)
			c["services"], web = list[:1], list[1]
		}))
		never(t, lab.Router, web4, func() {
			refuses(t, n, []string{"services[web]", "announced", "--allow-withdraw"}, "reload")
		})
		if st, _ := status(t, n); len(st.Services) != 2 || st.Config.LastReloadOK {
			t.Errorf("after a refused reload: %d services, ok %v", len(st.Services), st.Config.LastReloadOK)
		}
		does(t, n, "drain", "web", "--socket", n.Path("recuse.sock"))
		does(t, n, "reload")
		if st, code := status(t, n); len(st.Services) != 1 || !st.Config.LastReloadOK || code != 0 {
			t.Errorf("after the reload: %+v, exit code %d", st, code)
		}
		if _, out := program(t, n, "ip", "link", "show", "anycast1"); !strings.Contains(out, "does not exist") {
			t.Errorf("the link was left: %s", out)
		}
		hops(t, lab.Router, web4, o.V4)
		must(t, n.Reconfigure(func(c tree) { c["services"] = append(c["services"].([]any), web) }))
		does(t, n, "reload")
		hops(t, lab.Router, web4, n.V4, o.V4)
		hops(t, lab.Router, web6, n.V6, o.V6)
	})
	if after := session(t, n); after != before {
		t.Errorf("session %s, was %s", after, before)
	}
	lossless(t, client, 100)
}

// reloadAddress takes an address of a service away: refused, also by SIGHUP,
// and done in order when it is allowed; and puts it back.
func reloadAddress(t *testing.T, lab *topology.Lab) {
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
func reloadBroken(t *testing.T, lab *topology.Lab) {
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
