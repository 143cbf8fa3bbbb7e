package config

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/bgp"
	"recuse/probe"
)

func TestDiff(t *testing.T) {
	base := func() *Config {
		return &Config{Path: "a.yaml", Node: "n1",
			BGP: bgp.Config{ASN: 65011, Peers: []bgp.Peer{
				{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65000,
					Password: "old"}}},
			Services: []Service{{Name: "dns",
				Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.53/32")},
				Checks: []Check{{Kind: CheckDNS, Check: probe.Check{Name: "a",
					Timeout: time.Second}}}}}}
	}
	tests := []struct {
		name   string
		change func(*Config)
		want   []Change
	}{
		{"nothing", func(*Config) {}, nil},
		{"path and warnings are no difference", func(c *Config) {
			c.Path, c.Warnings = "b.yaml", []string{"w"}
		}, nil},
		{"a scalar", func(c *Config) { c.Node = "n2" },
			[]Change{{"node", `"n1"`, `"n2"`}}},
		{"a number", func(c *Config) { c.BGP.ASN = 65012 },
			[]Change{{"bgp.asn", "65011", "65012"}}},
		{"a secret", func(c *Config) { c.BGP.Peers[0].Password = "new" },
			[]Change{{"bgp.peers[192.0.2.1].password", "(secret)", "(secret)"}}},
		{"a secret taken away", func(c *Config) { c.BGP.Peers[0].Password = "" },
			[]Change{{"bgp.peers[192.0.2.1].password", "(secret)", "none"}}},
		{"a peer added in front", func(c *Config) {
			c.BGP.Peers = append([]bgp.Peer{{Address: netip.MustParseAddr(
				"192.0.2.9")}}, c.BGP.Peers...)
		}, []Change{{"bgp.peers[192.0.2.9]", "", "present"}}},
		{"a check's embedded setting", func(c *Config) {
			c.Services[0].Checks[0].Timeout = 2 * time.Second
		}, []Change{{"services[dns].checks[a].timeout", "1s", "2s"}}},
		{"a check renamed", func(c *Config) {
			c.Services[0].Checks[0].Name = "b"
		}, []Change{{"services[dns].checks[a]", "present", ""},
			{"services[dns].checks[b]", "", "present"}}},
		{"an address", func(c *Config) {
			c.Services[0].Addresses = []netip.Prefix{
				netip.MustParsePrefix("198.51.100.54/32")}
		}, []Change{{"services[dns].addresses", "[198.51.100.53/32]",
			"[198.51.100.54/32]"}}},
		{"several words", func(c *Config) {
			c.Services[0].YieldWait = time.Second
			c.BGP.Peers[0].TTLSecurity = true
			c.BGP.Peers[0].NextHopV6 = netip.MustParseAddr("2001:db8::1")
		}, []Change{{"bgp.peers[192.0.2.1].ttl_security", "false", "true"},
			{"bgp.peers[192.0.2.1].next_hop_v6", "none", "2001:db8::1"},
			{"services[dns].yield_wait", "0s", "1s"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after := base()
			tt.change(after)
			if diff := cmp.Diff(tt.want, Diff(base(), after)); diff != "" {
				t.Errorf("unexpected changes (-want +got):\n%s", diff)
			}
		})
	}
}
