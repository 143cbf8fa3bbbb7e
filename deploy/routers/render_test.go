package routers

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// node returns an eBGP node of the documentation's addresses, changed by edit.
func node(name, address string, edit ...func(*Node)) Node {
	n := Node{
		Name:          name,
		ASN:           65011,
		RouterASN:     65000,
		Address:       netip.MustParseAddr(address),
		RouterAddress: netip.MustParseAddr("192.0.2.1"),
		Prefixes:      prefixes("203.0.113.53/32", "2001:db8:53::53/128"),
	}
	if n.Address.Is6() {
		n.RouterAddress = netip.MustParseAddr("2001:db8::1")
	}
	for _, e := range edit {
		e(&n)
	}
	return n
}

// prefixes parses a list of prefixes.
func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// asn returns an edit that sets a node's ASN.
func asn(a uint32) func(*Node) { return func(n *Node) { n.ASN = a } }

// scenarios are the sets of nodes whose text is kept in testdata.
func scenarios() map[string][]Node {
	bfd := &BFD{Interval: 300 * time.Millisecond, Multiplier: 3}
	return map[string][]Node{
		"plain": {node("dns1", "192.0.2.11")},
		"full": {
			node("dns1", "192.0.2.11", func(n *Node) { n.BFD = bfd }),
			node("dns2", "192.0.2.12", asn(65012), func(n *Node) {
				n.BFD, n.Password, n.TTLSecurity = bfd, "s3$cret", true
			}),
			node("dns2", "2001:db8::12", asn(65012), func(n *Node) { n.TTLSecurity = true }),
			node("dns-3.example", "192.0.2.13", asn(65012), func(n *Node) {
				n.BFD = &BFD{Interval: 50 * time.Millisecond, Multiplier: 5}
			}),
			node("far", "198.51.100.9", asn(65014), func(n *Node) {
				n.Multihop, n.HoldTime = 3, 30*time.Second
				n.Prefixes = prefixes("203.0.113.0/24", "203.0.113.53/32")
			}),
			node("inner", "192.0.2.21", asn(65000), func(n *Node) { n.Password = "other" }),
		},
		"ibgp": {
			node("dns1", "192.0.2.11", asn(65000), func(n *Node) { n.Port = 1179 }),
			node("dns2", "2001:db8::12", asn(65000), func(n *Node) { n.Port, n.Multihop = 1179, 2 }),
		},
		"ipv6": {node("dns1", "2001:db8::11", func(n *Node) {
			n.Prefixes = prefixes("2001:db8:53::53/128", "2001:db8:53::54/128")
		})},
	}
}

func TestRenderGolden(t *testing.T) {
	for name, nodes := range scenarios() {
		for _, router := range Names() {
			t.Run(name+"/"+router, func(t *testing.T) {
				got, err := Render(router, nodes)
				if err != nil {
					t.Fatalf("failed to render: %v", err)
				}
				path := filepath.Join("testdata", name+"."+router)
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatalf("failed to write golden file: %v", err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("failed to read golden file (write it with -update): %v", err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Fatalf("unexpected text (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestRenderIgnoresOrder(t *testing.T) {
	nodes := scenarios()["full"]
	for _, router := range Names() {
		want, err := Render(router, nodes)
		if err != nil {
			t.Fatalf("failed to render: %v", err)
		}
		for i := range nodes {
			turned := slices.Concat(nodes[i:], nodes[:i])
			for j := range turned {
				turned[j].Prefixes = slices.Clone(turned[j].Prefixes)
				slices.Reverse(turned[j].Prefixes)
			}
			got, err := Render(router, turned)
			if err != nil {
				t.Fatalf("failed to render: %v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: text depends on the order (-want +got):\n%s", router, diff)
			}
		}
	}
}

// TestRenderStyle holds every text to what a reader and a parser need.
func TestRenderStyle(t *testing.T) {
	for name, nodes := range scenarios() {
		for _, router := range Names() {
			text, err := Render(router, nodes)
			if err != nil {
				t.Fatalf("failed to render: %v", err)
			}
			for i, line := range strings.Split(text, "\n") {
				comment := strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasPrefix(strings.TrimSpace(line), "!")
				if line != strings.TrimRight(line, " \t") || comment && len(line) > 84 {
					t.Errorf("%s/%s:%d: blank at the end or too long: %q", name, router, i+1, line)
				}
			}
			if strings.Contains(text, "\n\n\n") || strings.Contains(text, "<no value>") || !strings.HasSuffix(text, "\n") {
				t.Errorf("%s/%s: unclean text:\n%s", name, router, text)
			}
			device := strings.Contains(text, "NOT RUN ON THE DEVICE")
			if want := strings.HasPrefix(router, "routeros"); device != want {
				t.Errorf("%s/%s: says that it was not run: %t, want %t", name, router, device, want)
			}
		}
	}
}

func TestRenderDaemons(t *testing.T) {
	nodes := scenarios()["full"]
	parts, err := RenderDaemons("frr", nodes)
	if err != nil {
		t.Fatalf("failed to render: %v", err)
	}
	whole, err := Render("frr", nodes)
	if err != nil {
		t.Fatalf("failed to render: %v", err)
	}
	joined := parts["zebra"] + "!\n" + parts["bfdd"] + "!\n" + parts["bgpd"]
	if diff := cmp.Diff(whole, joined); diff != "" {
		t.Fatalf("unexpected parts (-whole +joined):\n%s", diff)
	}
	if strings.Contains(parts["bgpd"], "\nbfd\n") {
		t.Fatal("bgpd's part has a bfd block, after which bgpd reads no further")
	}
}

func TestRenderErrors(t *testing.T) {
	tests := []struct {
		name   string
		router string
		nodes  []Node
		want   []string
	}{
		{"unknown router", "frrr", []Node{node("a", "192.0.2.11")},
			[]string{`unknown router "frrr": known are bird, frr, routeros, routeros-pre720`}},
		{"no nodes", "frr", nil, []string{"no nodes"}},
		{"routers differ", "frr", []Node{node("a", "192.0.2.11"), node("b", "192.0.2.12", func(n *Node) { n.RouterASN = 65001 })},
			[]string{`node "b": the router's ASN is 65001 here and 65000 in the first node`}},
		{"ports differ", "frr", []Node{node("a", "192.0.2.11"), node("b", "192.0.2.12", func(n *Node) { n.Port = 1179 })},
			[]string{`node "b": the router's port is 1179 here and 179 in the first node`}},
		{"an explicit default port is no difference, one address is", "frr",
			[]Node{node("a", "192.0.2.11"), node("b", "192.0.2.11", func(n *Node) { n.Port = 179 })},
			[]string{`node "b": session address 192.0.2.11 is that of node "a" too`}},
		{"no prefixes", "bird", []Node{node("a", "192.0.2.11", func(n *Node) { n.Prefixes = nil })},
			[]string{`node "a": announces no prefix`}},
		{"prefix faults", "bird", []Node{node("a", "192.0.2.11", func(n *Node) {
			n.Prefixes = prefixes("203.0.113.53/24", "0.0.0.0/0", "::ffff:192.0.2.1/128")
		})}, []string{"203.0.113.53/24 has host bits: 203.0.113.0/24 is meant", "0.0.0.0/0 is the default route", "::ffff:192.0.2.1/128 is not valid"}},
		{"families of the ends", "frr", []Node{node("a", "192.0.2.11", func(n *Node) { n.RouterAddress = netip.MustParseAddr("2001:db8::1") })},
			[]string{"session addresses 192.0.2.11 and 2001:db8::1 are of different families"}},
		{"link-local", "frr", []Node{node("a", "fe80::1%eth0", func(n *Node) { n.RouterAddress = netip.MustParseAddr("fe80::2") })},
			[]string{"fe80::1%eth0 is link-local"}},
		{"no address", "frr", []Node{{Name: "a", ASN: 1, RouterASN: 2, Prefixes: prefixes("192.0.2.1/32")}},
			[]string{"session address is missing"}},
		{"no router address", "frr", []Node{node("a", "192.0.2.11", func(n *Node) { n.RouterAddress = netip.Addr{} })},
			[]string{"the router's session address is missing"}},
		{"same ends", "frr", []Node{node("a", "192.0.2.1")}, []string{"192.0.2.1 is on both ends"}},
		{"every fault of every node", "routeros", []Node{
			node("a b", "192.0.2.11", asn(0), func(n *Node) { n.TTLSecurity, n.Multihop = true, 2 }),
			node("", "192.0.2.12", func(n *Node) { n.RouterASN, n.Multihop = 0, -1 }),
			node("c", "192.0.2.13", func(n *Node) {
				n.HoldTime, n.BFD = 1500*time.Millisecond, &BFD{Interval: time.Microsecond, Multiplier: 1}
			}),
		}, []string{
			`node "a b": name must be letters`, `node "a b": ASN is missing`, `node "a b": ttl_security and multihop exclude`,
			`node "": name must be`, `node "": the router's ASN is missing`, `node "": multihop -1`,
			`node "c": hold time 1.5s`, `node "c": bfd interval 1µs`, `node "c": bfd multiplier 1`,
		}},
		{"password", "frr", []Node{
			node("a", "192.0.2.11", func(n *Node) { n.Password = "x\nno router bgp" }),
			node("b", "192.0.2.12", func(n *Node) { n.Password = `x"y` }),
			node("c", "192.0.2.13", func(n *Node) { n.Password = strings.Repeat("x", 81) }),
		}, []string{`node "a": password has the character '\n'`, `node "b": password has the character '"'`, `node "c": password has 81 bytes`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Render(tt.router, tt.nodes)
			if err == nil {
				t.Fatalf("unexpected success:\n%s", text)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "no router bgp") {
				t.Errorf("error shows a password: %v", err)
			}
		})
	}
}
