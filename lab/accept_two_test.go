package lab_test

import (
	"net/netip"
	"testing"
	"time"

	"recuse/lab/authority"
	"recuse/lab/topology"
)

// The second service of TestTwo.
var (
	web4 = netip.MustParsePrefix("10.9.8.53/32")
	web6 = netip.MustParsePrefix("2001:db8:8::53/128")
)

// second adds a service with its own link, addresses and check: it asks for
// names of the internet, the first service for names of the house.
func second(_ int, c tree) {
	first := service(c, 0)
	dns := tree{"server": "127.0.0.1:53", "name": "{random}.fresh.internet.example", "type": "A"}
	check := tree{"name": "internet", "dns": dns, "interval": "200ms", "timeout": "300ms", "rise": 3}
	c["services"] = append(c["services"].([]any), tree{
		"name": "web", "addresses": []string{web4.String(), web6.String()}, "drain": "300ms",
		"link":   tree{"name": "anycast1", "kind": first["link"].(tree)["kind"]},
		"checks": []any{check},
	})
}

// TestTwo has two services on each node and two routers: the services move
// independently, and the loss of a router costs the other nothing.
func TestTwo(t *testing.T) {
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
		never(t, lab.Routers[0], web4, func() {
			never(t, lab.Routers[1], web4, func() {
				must(t, lab.Authority.SetFailure(t.Context(), authority.LAN, authority.ServFail))
				announced(t, lab)
				if _, code := status(t, n1); code != 3 {
					t.Errorf("exit code %d with one of two services announced, want 3", code)
				}
			})
		})
		must(t, lab.Authority.SetFailure(t.Context(), authority.LAN, authority.None))
		both(t)
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
