package bgp

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/bgp/bfd"
)

// Every broken rule is named, with its path and value.
func TestValidate(t *testing.T) {
	good := nodeConfig(v4Peer())
	peer := func(f func(*Peer)) Config { return nodeConfig(v4Peer().with(f)) }
	tests := []struct {
		name string
		c    Config
		want []string
	}{
		{"good", good, nil},
		{"empty", Config{}, []string{"bgp.asn: 0: must be 1 to 4294967295", "bgp.peers: at least one is needed"}},
		{"router-id", Config{ASN: 1, RouterID: netip.MustParseAddr("::1"), Peers: good.Peers},
			[]string{`bgp.router_id: "::1": must be an IPv4 address`}},
		{"prepend", Config{ASN: 1, Deprefer: Deprefer{Prepend: 21}, Peers: good.Peers},
			[]string{"bgp.deprefer.prepend: 21: must be 0 to 20"}},
		{"communities", Config{ASN: 1, Communities: []string{"x"}, Peers: good.Peers},
			[]string{`bgp.communities: "x": must be two numbers (65000:53) or three (65000:1:2)`}},
		{"twice", nodeConfig(v4Peer(), v4Peer()), []string{`bgp.peers[1].address: "10.1.1.1": named twice`}},
		{"empty peer", nodeConfig(Peer{}),
			[]string{`bgp.peers[0].address: "invalid IP": must be a router's address`, "bgp.peers[0].asn: 0: must be 1 to 4294967295"}},
		{"link-local", nodeConfig(Peer{Address: netip.MustParseAddr("fe80::1"), ASN: 1}),
			[]string{"bgp.peers[0].interface: needed for link-local address fe80::1"}},
		{"local address", peer(func(p *Peer) { p.LocalAddress = netip.MustParseAddr("::1") }),
			[]string{`bgp.peers[0].local_address: "::1": not of the family of 10.1.1.1`}},
		{"password", peer(func(p *Peer) { p.Password = strings.Repeat("x", 81) }),
			[]string{"bgp.peers[0].password: 81 bytes: at most 80"}},
		{"multihop", peer(func(p *Peer) { p.Multihop = 256 }), []string{"bgp.peers[0].multihop: 256: must be 1 to 255"}},
		{"GTSM and multihop", peer(func(p *Peer) { p.TTLSecurity, p.Multihop = true, 2 }),
			[]string{"bgp.peers[0].ttl_security: excludes multihop: 2"}},
		{"next hops", peer(func(p *Peer) {
			p.NextHopV4, p.NextHopV6 = netip.MustParseAddr("::1"), netip.MustParseAddr("::ffff:10.0.0.1")
		}), []string{`bgp.peers[0].next_hop_v4: "::1": must be an IPv4 address`,
			`bgp.peers[0].next_hop_v6: "::ffff:10.0.0.1": must be an IPv6 address`}},
		{"unspecified next hop", peer(func(p *Peer) { p.NextHopV6 = netip.IPv6Unspecified() }),
			[]string{`bgp.peers[0].next_hop_v6: "::": must be an IPv6 address`}},
		{"timers", peer(func(p *Peer) { p.HoldTime, p.ConnectRetry = time.Second, -1 }),
			[]string{"bgp.peers[0].hold_time: 1s: must be 3s to 1h", "bgp.peers[0].connect_retry: -1ns: must not be negative"}},
		{"BFD", peer(func(p *Peer) { p.BFD = &BFD{Interval: time.Millisecond, Multiplier: 256} }),
			[]string{"bgp.peers[0].bfd.interval: 1ms: must be 10ms to 1m0s", "bgp.peers[0].bfd.multiplier: 256: must be 1 to 255"}},
		{"BFD with a key of no length", peer(func(p *Peer) { p.BFD = &BFD{Auth: &bfd.Auth{Type: bfd.KeyedSHA1}} }),
			[]string{"bgp.peers[0].bfd.auth.keys: none: keyed-sha1 needs at least one"}},
		{"peer communities", peer(func(p *Peer) { p.Communities = []string{"1:70000"} }),
			[]string{`bgp.peers[0].communities: "1:70000": "70000" must be 0 to 65535`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			if _, err := New(tt.c, (&logBook{}).logger(), func() {}); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	tests := []struct {
		name     string
		in, want Peer
	}{
		{"all", Peer{Address: netip.MustParseAddr("::ffff:10.1.1.1")},
			Peer{Address: netip.MustParseAddr("10.1.1.1"), Port: 179, HoldTime: 9 * time.Second, ConnectRetry: 2 * time.Second}},
		{"zone from the address", Peer{Address: netip.MustParseAddr("fe80::1%e0"), Port: 1, HoldTime: 3, ConnectRetry: 4},
			Peer{Address: netip.MustParseAddr("fe80::1%e0"), Interface: "e0", Port: 1, HoldTime: 3, ConnectRetry: 4}},
		{"zone from the interface", Peer{Address: netip.MustParseAddr("fe80::1"), Interface: "e0", Port: 1, HoldTime: 3, ConnectRetry: 4},
			Peer{Address: netip.MustParseAddr("fe80::1%e0"), Interface: "e0", Port: 1, HoldTime: 3, ConnectRetry: 4}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.in.withDefaults(), compareAddrs); diff != "" {
			t.Errorf("%s: unexpected peer (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestTTL(t *testing.T) {
	tests := []struct {
		name       string
		p          Peer
		external   bool
		out, least int
	}{
		{"eBGP", Peer{}, true, 1, 0},
		{"iBGP", Peer{}, false, 0, 0},
		{"multihop", Peer{Multihop: 3}, true, 3, 0},
		{"GTSM", Peer{TTLSecurity: true}, true, 255, 255},
		{"GTSM on iBGP", Peer{TTLSecurity: true, Multihop: 1}, false, 255, 255},
	}
	for _, tt := range tests {
		if out, least := tt.p.ttl(tt.external); out != tt.out || least != tt.least {
			t.Errorf("%s: ttl = %d, %d, want %d, %d", tt.name, out, least, tt.out, tt.least)
		}
	}
}
