package config

import (
	"log/slog"
	"net/netip"
	"time"

	"recuse/bgp"
	"recuse/probe"
	"recuse/probe/dnsx"
)

// everything is what testdata/everything.yaml must come to.
func everything() *Config {
	return &Config{
		Path: "testdata/everything.yaml", Node: "dns1", StateDir: "/srv/recuse",
		Control: Control{Socket: "/run/r.sock", Group: "dns"},
		HTTP:    HTTP{Listen: "[::1]:9000"},
		Log:     Log{Level: slog.LevelWarn, Format: "json"},
		BGP: bgp.Config{
			ASN: 4200000000, RouterID: addr("10.1.1.11"), Listen: netip.MustParseAddrPort("10.1.1.11:1179"),
			Communities: []string{"65000:53", "4200000000:1:2"}, Deprefer: bgp.Deprefer{MED: 4294967295},
			Peers: everyPeer(),
		},
		Services: []Service{{
			Name:      "dns",
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.9.53/32"), netip.MustParsePrefix("2001:db8:9::53/128")},
			Announce:  []netip.Prefix{netip.MustParsePrefix("10.1.9.0/24"), netip.MustParsePrefix("2001:db8:9::/48")},
			Link:      Link{Name: "lo", Kind: "existing", WhenOut: "keep"},
			Checks:    everyCheck(),
			On:        On{Dead: "ignore", Sick: "deprefer", Slow: "withdraw"},
			Policy:    "at_least", AtLeast: 2,
			SilentAfter: time.Second, YieldWait: 2 * time.Second, Drain: 2 * time.Second,
			DrainTimeout: 20 * time.Second, DrainFile: "/run/drain",
			ServicePath: ServicePath{Source: addr("10.1.1.11")},
			Hold:        Hold{Min: time.Second, Max: time.Second}, Failback: "manual",
		}, {
			Name: "anycast0", Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.8.53/32")},
			Link: Link{Name: "anycast0", Kind: "dummy", WhenOut: "down"},
			On:   On{Dead: "withdraw", Sick: "yield", Slow: "yield"}, Policy: "at_least", AtLeast: 1,
			SilentAfter: 3 * time.Second, YieldWait: 3 * time.Second, Settle: 200 * time.Millisecond,
			Drain: time.Second, DrainTimeout: 10 * time.Second, ServicePath: ServicePath{Off: true},
			Hold: Hold{Min: 5 * time.Second, Max: 5 * time.Minute}, Failback: "auto",
			Checks: []Check{everyDNS("dns", 3*time.Second, dnsx.Config{
				Server: server("udp", "127.0.0.1:53"), Rcodes: []int{0, 3}})},
		}},
	}
}

// everyPeer is bgp.peers of everything.
func everyPeer() []bgp.Peer {
	const hold, retry = 9 * time.Second, 2 * time.Second
	return []bgp.Peer{
		{Address: addr("10.1.1.1"), ASN: 65000, Port: 1179, LocalAddress: addr("10.1.1.11"), Interface: "eth0",
			TTLSecurity: true, Communities: []string{"65000:1"}, NextHopV4: addr("10.1.1.11"),
			NextHopV6: addr("2001:db8:1::11"), HoldTime: 3 * time.Second, ConnectRetry: 90 * time.Second,
			BFD: &bgp.BFD{Interval: 50 * time.Millisecond, Multiplier: 5, Strict: true}},
		{Address: addr("fe80::1%eth1"), Interface: "eth1", ASN: 4200000000, Port: 179, HoldTime: hold, ConnectRetry: retry,
			BFD: &bgp.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}},
		{Address: addr("fe80::1%eth2"), Interface: "eth2", ASN: 65000, Port: 179, HoldTime: hold, ConnectRetry: retry,
			BFD: &bgp.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}},
		{Address: addr("192.0.2.1"), ASN: 65000, Port: 179, Multihop: 2, HoldTime: hold, ConnectRetry: retry},
	}
}

// everyCheck is the checks of everything's first service.
func everyCheck() []Check {
	udp := Check{
		Check: probe.Check{Name: "udp", Interval: 2 * time.Second, Timeout: 3 * time.Second,
			FastInterval: 5 * time.Millisecond, Over: 70 * time.Millisecond,
			Rules: probe.Rules{Fall: 1, Rise: 100, SilentAfter: time.Second, UnknownAfter: time.Minute,
				Slow: probe.SlowTest{Tolerate: 0.1, ActAt: 0.5, Threshold: 20.5}}},
		Kind: "dns",
		DNS: &dnsx.Config{Server: server("udp", "[::1]:5353"), Name: "{random}.home.arpa.", Type: 28,
			Rcodes: []int{3}, SOA: "home.arpa", Alive: []string{". IN SOA"}},
		Failure: "dead", Tripwire: "none",
	}
	a := everyDNS("a", time.Second, dnsx.Config{Server: server("tcp", "127.0.0.1:53"), Rcodes: []int{0}, Answer: "10.1.1.236"})
	a.Interval, a.FastInterval = 20*time.Millisecond, 20*time.Millisecond
	b := everyDNS("b", time.Second, dnsx.Config{Server: server("tls", "127.0.0.1:853"), Rcodes: []int{0, 3},
		Trust: probe.Trust{ServerName: "dns.example", Pins: []string{somePin}}})
	c := everyDNS("c", time.Second, dnsx.Config{Server: server("https", "127.0.0.1:443"), Rcodes: []int{0, 3},
		Trust: probe.Trust{Insecure: true}})
	c.DNS.Server.Path = "/q"
	web := everyOther("http", "sick", "kernel", time.Second)
	web.HTTP = &HTTPCheck{URL: "https://[::1]:3000/", Status: []int{200, 204}, Body: "ok", Follow: true,
		Trust: probe.Trust{ServerName: "2001:db8::1", Pins: []string{somePin}}}
	web.Serial = true
	dot := everyOther("tcp", "info", "tcp", 50*time.Millisecond)
	dot.TCP = &TCPCheck{Address: netip.MustParseAddrPort("127.0.0.1:853")}
	script := everyOther("exec", "auto", "kernel", 500*time.Millisecond)
	script.Interval, script.Serial = 500*time.Millisecond, true
	script.Exec = &ExecCheck{Command: []string{"/bin/check", "1", "yes"}}
	return []Check{udp, a, b, c, web, dot, script}
}

// somePin is a pin.
const somePin = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// everyDNS is a DNS check with the defaults.
func everyDNS(name string, silent time.Duration, q dnsx.Config) Check {
	c := everyOther("dns", "auto", "kernel", 50*time.Millisecond)
	q.Name, q.Type = "{random}.lan", 1
	q.Alive = []string{"id.server CH TXT", ". NS", "localhost A", "healthcheck.adguardhome.test A"}
	c.Name, c.DNS, c.Rules.SilentAfter = name, &q, silent
	return c
}

// everyOther is a check with the defaults, named for its kind.
func everyOther(kind, failure, tripwire string, fast time.Duration) Check {
	return Check{
		Check: probe.Check{Name: kind, Interval: time.Second, Timeout: 500 * time.Millisecond, FastInterval: fast,
			Rules: probe.Rules{Fall: 3, Rise: 5, SilentAfter: time.Second, UnknownAfter: time.Minute,
				Slow: probe.SlowTest{Tolerate: 0.05, ActAt: 0.3, Threshold: 12}}},
		Kind: kind, Failure: failure, Tripwire: tripwire,
	}
}

// addr is an address.
func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// server is a DNS server.
func server(transport, at string) dnsx.Server {
	return dnsx.Server{Net: transport, Addr: netip.MustParseAddrPort(at)}
}
