package lab_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/topology"
)

// The second service of TestTwo.
var (
	web4 = netip.MustParsePrefix("10.9.8.53/32")
	web6 = netip.MustParsePrefix("2001:db8:8::53/128")
)

// second adds a service with its own link, addresses and checks: one asks for
// names of the internet, the first service for names of the house; the other
// is a script, which says that the service is sick while a file is there.
func second(_ int, c tree) {
	first := service(c, 0)
	dns := tree{"server": "127.0.0.1:53", "name": "{random}.fresh.internet.example", "type": "A"}
	check := tree{"name": "internet", "dns": dns, "interval": "200ms", "timeout": "300ms", "rise": 3}
	// The state directory is the only path of the node that is known here.
	script := tree{"name": "switch", "exec": tree{"command": []string{"/usr/bin/test", "!", "-e",
		filepath.Join(c["state_dir"].(string), "sick")}}, "interval": "200ms", "rise": 2, "fall": 2}
	c["services"] = append(c["services"].([]any), tree{
		"name": "web", "addresses": []string{web4.String(), web6.String()}, "drain": "300ms", "yield_wait": "1s",
		"hold":   first["hold"],
		"link":   tree{"name": "anycast1", "kind": first["link"].(tree)["kind"]},
		"checks": []any{check, script},
	})
}

// TestTwo has two services on each node and two routers: the services move
// independently, and the loss of a router costs the other nothing.
func TestTwo(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{Nodes: 2, Routers: 2, HoldTime: 3 * time.Second}, second)
	n1, n2 := lab.Nodes[0], lab.Nodes[1]
	both := func(t *testing.T) {
		t.Helper()
		announced(t, lab, lab.Nodes...)
		for _, r := range lab.Routers {
			hops(t, r, web4, n1.V4, n2.V4)
			hops(t, r, web6, n1.V6, n2.V6)
		}
	}
	both(t)
	t.Run("services move independently", func(t *testing.T) {
		sick := n2.Path("state/sick")
		never(t, lab.Routers[0], anycast4, func() {
			never(t, lab.Routers[1], anycast4, func() {
				must(t, os.WriteFile(sick, nil, 0o600))
				for _, r := range lab.Routers {
					hops(t, r, web4, n1.V4)
					hops(t, r, web6, n1.V6)
				}
				eventually(t, "the second service withdrawn alone", func() (bool, string) {
					st, code := status(t, n2)
					return code == 3 && st.Services[0].Stance == "announced" && st.Services[1].Stance == "withdrawn",
						fmt.Sprintf("%d %+v", code, st.Services)
				})
				must(t, os.Remove(sick))
				both(t)
			})
		})
		never(t, lab.Routers[0], web4, func() {
			never(t, lab.Routers[1], web4, func() {
				must(t, lab.Authority.SetFailure(t.Context(), authority.LAN, authority.ServFail))
				says(t, n1, "first service second choice", func(s control.Service) bool { return s.Stance == "depreferred" })
				must(t, lab.Authority.SetFailure(t.Context(), authority.LAN, authority.None))
				serving(t, lab)
			})
		})
		must(t, n2.LinkDown("anycast1"))
		for _, r := range lab.Routers {
			hops(t, r, web4, n1.V4)
			hops(t, r, web6, n1.V6)
		}
		announced(t, lab, lab.Nodes...) // the first service's are all there
		must(t, n2.LinkUp("anycast1"))
		both(t)
	})
	t.Run("a router dies", func(t *testing.T) { routerDies(t, lab) })
	both(t)
}

// routerDies freezes the first router: the second router's routes stay as they
// are beyond the hold time, and clients that go by it lose nothing.
func routerDies(t *testing.T, lab *topology.Lab) {
	r1, r2 := lab.Routers[0], lab.Routers[1]
	never(t, r2, anycast4, func() {
		never(t, r2, web6, func() {
			must(t, r1.Freeze())
			must(t, lab.SetGateway(r2))
			client := asking(t, lab, 100)
			eventually(t, "the session with r1 gone", func() (bool, string) {
				st, code := status(t, lab.Nodes[0])
				return code == 0 && st.Peers[0].State != "ESTABLISHED" && st.Peers[1].State == "ESTABLISHED", st.Peers[0].State
			})
			if f := client.end(); f.Asked < 100 || f.Lost != 0 || f.Bad != 0 {
				t.Errorf("by the second router: %+v", f)
			}
			must(t, r1.Thaw())
			start := time.Now()
			eventually(t, "the session with r1 back", func() (bool, string) {
				st, _ := status(t, lab.Nodes[0])
				return st.Peers[0].State == "ESTABLISHED", st.Peers[0].State + " " + st.Peers[0].Error
			})
			t.Logf("session back %v after the router's return", time.Since(start).Round(time.Millisecond))
		})
	})
}
