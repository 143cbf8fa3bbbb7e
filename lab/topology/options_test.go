package topology

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDefaults(t *testing.T) {
	o, err := Options{Recuse: "/opt/bin/recuse"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Router         string
		Routers, Nodes int
		Hold           time.Duration
		Authority      []string
		Addresses      int
		AskAt          string
		Log            bool
	}
	got := summary{o.Router, o.Routers, o.Nodes, o.HoldTime, o.Authority, len(o.Addresses), o.askAt().String(), o.Log != nil}
	want := summary{FRR, 1, 3, 9 * time.Second, []string{"/opt/bin/recuse-authority"}, 2, "127.0.0.1", true}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("unexpected defaults (-want +got):\n%s", d)
	}
}

func TestOptionsRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"router", func(o *Options) { o.Router = "quagga" }, `router "quagga": must be frr or bird`},
		{"no router", func(o *Options) { o.Routers = -1 }, "routers -1"},
		{"three routers", func(o *Options) { o.Routers = 3 }, "routers 3: must be 1 or 2"},
		{"negative nodes", func(o *Options) { o.Nodes = -1 }, "nodes -1"},
		{"too many nodes", func(o *Options) { o.Nodes = MaxNodes + 1 }, "nodes 81: must be 1 to 80"},
		{"too many with the spare ones", func(o *Options) { o.Spares = MaxNodes }, "nodes 83: must be 1 to 80"},
		{"unknown layout", func(o *Options) { o.Layout = "star" }, `layout "star": must be routed or flat`},
		{"too many clients", func(o *Options) { o.Clients = MaxClients + 1 }, "clients 151: must be 1 to 150"},
		{"no authority", func(o *Options) { o.Recuse = "" }, "authority: no command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Recuse: "/opt/bin/recuse"}
			tt.change(&o)
			_, err := o.withDefaults()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestPlan shows that no two hosts of the largest lab share an address, and
// that every address lies in its segment.
func TestPlan(t *testing.T) {
	seen := map[netip.Addr]string{}
	take := func(who string, s segment, host int) {
		for _, p := range s.addresses(host) {
			if other, ok := seen[p.Addr()]; ok {
				t.Errorf("%s and %s share %s", who, other, p.Addr())
			}
			seen[p.Addr()] = who
			if !s.addresses(1)[0].Masked().Contains(p.Addr()) && !s.addresses(1)[1].Masked().Contains(p.Addr()) {
				t.Errorf("%s of %s is not of its segment", p, who)
			}
		}
	}
	for _, s := range []segment{clientNet, nodeNet, wideNet} {
		take("r1 "+s.name, s, 1)
		take("r2 "+s.name, s, 2)
	}
	for i := range MaxClients {
		take("client", clientNet, clientHost+i)
		take("client on a flat network", nodeNet, clientHost+i)
	}
	take("authority", wideNet, internetHost)
	take("authority, home zone", wideNet, lanHost)
	for i := range MaxNodes {
		take("node", nodeNet, firstNode+i)
	}
	for _, p := range DefaultAddresses() {
		if who, ok := seen[p.Addr()]; ok {
			t.Errorf("%s has the service address %s", who, p)
		}
	}
}

func TestLabOf(t *testing.T) {
	tests := []struct {
		namespace, id string
		ok            bool
	}{
		{"recuse-lab-123-0a1b-n1", "123-0a1b", true},
		{"recuse-lab-123-0a1b-client", "123-0a1b", true},
		{"recuse-lab-123-0a1b", "", false},
		{"recuse-lab-", "", false},
		{"somebody-elses", "", false},
	}
	for _, tt := range tests {
		id, ok := labOf(tt.namespace)
		if id != tt.id || ok != tt.ok {
			t.Errorf("the lab of %q is %q, %v; want %q, %v", tt.namespace, id, ok, tt.id, tt.ok)
		}
	}
}
