package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/bgp"
	"recuse/netlinkx"
	"recuse/probe"
)

// text is the configuration of the box that the tests change.
const text = `
bgp:
  asn: 65011
  router_id: 198.51.100.11
  peers: [{address: 198.51.100.1, asn: 65000, bfd: {}}]
services:
  - name: dns
    addresses: [192.0.2.53/32, "2001:db8:9::53/128"]
    checks: [{name: local-name, dns: {soa: lan}}]
`

// file is a file of a box.
func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }

// wellBox is a box on which nothing is wrong, with an agent that runs.
func wellBox(t *testing.T) *Box {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recuse.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	way := Got[netlinkx.Way]{Value: netlinkx.Way{Link: "eth0", Source: addr("198.51.100.11")}}
	six := Got[netlinkx.Way]{Value: netlinkx.Way{Link: "eth0", Source: addr("2001:db8:1::11")}}
	unbound := func(tcp bool, at string) Socket {
		return Socket{TCP: tcp, Local: netip.MustParseAddrPort(at), Process: "unbound", PID: 100}
	}
	now := time.Now()
	return &Box{
		Config: c,
		Agent: Agent{PID: 200, Status: control.Status{
			Services: []control.Service{{Name: "dns", Stance: "announced", OthersKnown: "seen",
				Addresses: []control.Address{{Prefix: "192.0.2.53/32"}, {Prefix: "2001:db8:9::53/128"}}}},
			Peers: []control.Peer{{Address: "198.51.100.1", State: established, EndOfRIB: &now, Marked: true,
				BFD: &control.BFD{State: "UP", IntervalMS: 300, RemoteIntervalMS: 300, WorstLateMS: 2, Scheduling: "SCHED_OTHER nice 0"}}},
			Config: control.Config{Path: path, LastReloadOK: true, LoadedAt: now}}},
		Links:    []Got[netlinkx.State]{{Value: netlinkx.State{Exists: true, Up: true, Present: c.Services[0].Addresses}}},
		Indexes:  map[string]int{"anycast0": 7},
		Guards:   Got[[]netip.Prefix]{Value: c.Services[0].Addresses[1:]},
		Ways:     []Got[netlinkx.Way]{way},
		Locals:   make([]Got[netlinkx.Way], 1),
		Outward:  [2]Got[netlinkx.Way]{way, six},
		Withheld: make([]error, 1),
		Wires:    make([]error, 1),
		Sockets: Got[[]Socket]{Value: []Socket{unbound(false, "0.0.0.0:53"), unbound(false, "[::]:53"),
			unbound(true, "0.0.0.0:53"), unbound(true, "[::]:53"),
			{Local: netip.MustParseAddrPort("0.0.0.0:3784"), Process: "recuse", PID: 200}}},
		Asked: Got[[]Asked]{Value: []Asked{asked("local-name", probe.Passed, 0)}},
		Files: fstest.MapFS{
			"proc/sys/net/ipv4/ip_forward":                    file("0"),
			"proc/sys/net/ipv4/conf/all/rp_filter":            file("0"),
			"proc/sys/net/ipv4/conf/eth0/rp_filter":           file("0"),
			"proc/sys/net/ipv6/conf/anycast0/disable_ipv6":    file("0"),
			"proc/sys/net/ipv6/conf/default/disable_ipv6":     file("0"),
			"proc/sys/net/netfilter/nf_conntrack_count":       file("10"),
			"proc/sys/net/netfilter/nf_conntrack_max":         file("65536"),
			"proc/net/stat/nf_conntrack":                      file("entries drop early_drop\n0000000a 00000000 00000000"),
			"proc/sys/kernel/osrelease":                       file("6.1.0"),
			"lib/modules/6.1.0/modules.dep":                   file("kernel/drivers/net/ifb.ko:"),
			"lib/modules/6.1.0/modules.builtin":               file("kernel/net/core/core.ko"),
			fmt.Sprintf("proc/%d/status", 200):                file("Name:\trecuse\nCapEff:\t0000000000003400"),
			strings.TrimPrefix(filepath.ToSlash(c.Path), "/"): {ModTime: now.Add(-time.Hour)},
		},
	}
}

// addr is an address.
func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// asked is a check of service dns, and how three probes of it ended.
func asked(check string, cause probe.Cause, failed int) Asked {
	return Asked{Sample: agent.Sample{Service: "dns", Check: check,
		Result: probe.Result{Cause: cause, Outcome: "OUTCOME"}}, Failed: failed, All: 3}
}

// set changes a file of the box.
func set(b *Box, path, text string) { b.Files.(fstest.MapFS)[path] = file(text) }

// noAgent ends the agent.
func noAgent(b *Box) { b.Agent = Agent{Err: fmt.Errorf("%w: nobody listens", control.ErrNoDaemon)} }

// noSession ends the agent, its sockets with it.
func noSession(b *Box) {
	noAgent(b)
	b.Sockets.Value = b.Sockets.Value[:4]
}

// peerOf and bfdOf are the agent's word of the peer.
func peerOf(b *Box) *control.Peer { return &b.Agent.Status.Peers[0] }
func bfdOf(b *Box) *control.BFD   { return peerOf(b).BFD }

var denied = &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission}

// TestExamine changes one thing of a box on which nothing is wrong.
func TestExamine(t *testing.T) {
	far := Got[netlinkx.Way]{Value: netlinkx.Way{Link: "eth0", Gateway: addr("198.51.100.9"), Source: addr("198.51.100.11")}}
	tests := []struct {
		name   string
		change func(*Box)
		want   []string // "severity examination: part of what was seen"
	}{
		{"nothing", func(*Box) {}, nil},
		{"nothing, without an agent", noAgent, []string{"note agent: no agent is running", "error bfd-port: recuse (pid 200)"}},
		{"a warning of the file", func(b *Box) { b.Config.Warnings = []string{"x: y"} }, []string{"warning settings: x: y"}},
		{"no permission for the socket", func(b *Box) { b.Agent = Agent{Err: denied, PID: 200} }, []string{"unknown agent: permission denied"}},
		{"an alarm", func(b *Box) { b.Agent.Status.Alarms = []string{"state_dir"} }, []string{"warning agent: state_dir"}},
		{"a refused reload", func(b *Box) { b.Agent.Status.Config.LastReloadOK = false }, []string{"warning agent: refused"}},
		{"another file", func(b *Box) { b.Agent.Status.Config.Path = "/etc/other.yaml" }, []string{"note agent: /etc/other.yaml"}},
		{"a changed file", func(b *Box) { b.Agent.Status.Config.LoadedAt = time.Time{} }, []string{"note agent: has changed"}},
		{"a changed file with another address and a faster BFD", func(b *Box) {
			b.Agent.Status.Config.LoadedAt = time.Time{}
			b.Config.Services[0].Addresses = []netip.Prefix{netip.MustParsePrefix("2001:db8:9::54/128")}
			b.Config.BGP.Peers[0].BFD = &bgp.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}
		}, []string{"note agent: has changed"}},
		{"withdrawn", func(b *Box) { b.Agent.Status.Services[0].Stance = "withdrawn" }, []string{"error service: withdrawn"}},
		{"second choice", func(b *Box) { b.Agent.Status.Services[0].Stance = "depreferred" }, []string{"warning service: depreferred"}},
		{"drained", func(b *Box) {
			b.Agent.Status.Services[0].Stance, b.Agent.Status.Services[0].Admin = "withdrawn", "drained"
		}, []string{"note service: withdrawn"}},
		{"a link that fails", func(b *Box) { b.Agent.Status.Services[0].Link.Error = "EPERM" }, []string{"error service: EPERM"}},
		{"no session", func(b *Box) { *peerOf(b) = control.Peer{Address: "198.51.100.1", State: "CONNECT", Error: "refused"} },
			[]string{"error peer: CONNECT: refused"}},
		{"withheld routes", func(b *Box) { peerOf(b).Error = "IPv6 routes withheld" }, []string{"warning peer: withheld"}},
		{"BFD is down", func(b *Box) { bfdOf(b).State, bfdOf(b).Error = "DOWN", "heard nothing" }, []string{"error bfd: heard nothing"}},
		{"BFD is slower", func(b *Box) { bfdOf(b).IntervalMS = 1000 }, []string{"warning bfd: every 1000 ms out"}},
		{"the router's BFD is slower", func(b *Box) { bfdOf(b).RemoteIntervalMS = 1000 }, []string{"warning bfd: 1000 ms in"}},
		{"BFD is late", func(b *Box) { bfdOf(b).WorstLateMS = 650 }, []string{"warning bfd: 650 ms late"}},
		{"marks are stripped", func(b *Box) { peerOf(b).Unmarked, peerOf(b).Marked = true, false }, []string{"warning others: without a node's mark"}},
		{"nothing is sent back", func(b *Box) { peerOf(b).Marked, b.Agent.Status.Services[0].OthersKnown = false, "unknown" },
			[]string{"note others: has sent no route"}},
		{"no End-of-RIB yet", func(b *Box) {
			peerOf(b).Marked, peerOf(b).EndOfRIB, b.Agent.Status.Services[0].OthersKnown = false, nil, "unknown"
		}, nil},
		{"a long hold time", func(b *Box) {
			b.Config.BGP.Peers[0].BFD, peerOf(b).BFD, b.Config.BGP.Peers[0].HoldTime = nil, nil, 30*time.Second
		}, []string{"warning hold-time: 30s"}},
		{"no route to the peer", func(b *Box) { b.Ways[0] = Got[netlinkx.Way]{Err: netlinkx.ErrNoWay} }, []string{"error route: no route"}},
		{"an unreadable route", func(b *Box) { b.Ways[0] = Got[netlinkx.Way]{Err: denied} }, []string{"unknown route: denied"}},
		{"the peer is this box", func(b *Box) { b.Ways[0].Value.Local = true }, []string{"error route: of this box"}},
		{"eBGP behind a router", func(b *Box) { b.Ways[0] = far; noSession(b) }, []string{"note agent: ", "error route: without multihop"}},
		{"GTSM behind a router", func(b *Box) { b.Ways[0], b.Config.BGP.Peers[0].TTLSecurity = far, true; noSession(b) },
			[]string{"note agent: ", "error route: ttl_security"}},
		{"BFD behind a router", func(b *Box) { b.Ways[0], b.Config.BGP.Peers[0].ASN = far, 65011; noSession(b) },
			[]string{"note agent: ", "error route: with bfd"}},
		{"BFD behind a router, and a session", func(b *Box) { b.Ways[0], bfdOf(b).State = far, "DOWN" },
			[]string{"error bfd: DOWN", "error route: with bfd"}},
		{"a router by another of its addresses", func(b *Box) { b.Ways[0] = far }, nil},
		{"eBGP by the router's own address", func(b *Box) {
			b.Ways[0].Value.Gateway, b.Config.BGP.Peers[0].TTLSecurity = b.Config.BGP.Peers[0].Address, true
		}, nil},
		{"multihop", func(b *Box) { b.Ways[0], b.Config.BGP.Peers[0].Multihop = far, 2 }, nil},
		{"a local address of no link", func(b *Box) {
			b.Config.BGP.Peers[0].LocalAddress, b.Withheld[0] = addr("203.0.113.1"), errors.New("withheld")
			*peerOf(b) = control.Peer{Address: "198.51.100.2", State: established}
		}, []string{"error route: 203.0.113.1 is not on this box"}},
		{"no next hop, and no session", func(b *Box) {
			b.Withheld[0] = errors.New("IPv6 routes withheld")
			noSession(b)
		},
			[]string{"note agent: ", "warning next-hop: IPv6 routes withheld"}},
		{"no next hop, says the box, but the session has one", func(b *Box) { b.Withheld[0] = errors.New("withheld") }, nil},
		{"the service address as a source", func(b *Box) { b.Outward[1].Value.Source = addr("2001:db8:9::53") },
			[]string{"error source-address: 2001:db8:9::53"}},
		{"strict on one link", func(b *Box) { set(b, "proc/sys/net/ipv4/conf/all/rp_filter", "1") }, nil},
		{"strict, and another way out", func(b *Box) {
			set(b, "proc/sys/net/ipv4/conf/all/rp_filter", "1")
			b.Outward[0].Value.Link = "eth1"
		}, []string{"warning rp-filter: net.ipv4.conf.all.rp_filter = 1, while answers leave by eth1"}},
		{"strict, another way out, and IPv6 alone", func(b *Box) {
			set(b, "proc/sys/net/ipv4/conf/all/rp_filter", "1")
			b.Outward[0].Value.Link = "eth1"
			b.Config.Services[0].Addresses = b.Config.Services[0].Addresses[1:]
		}, nil},
		{"strict, another way out, and a session over IPv6", func(b *Box) {
			set(b, "proc/sys/net/ipv4/conf/all/rp_filter", "1")
			b.Outward[0].Value.Link = "eth1"
			b.Config.BGP.Peers[0].Address, peerOf(b).Address = addr("2001:db8:1::1"), "2001:db8:1::1"
			b.Ways[0].Value.Source = addr("2001:db8:1::11")
		}, []string{"warning rp-filter: net.ipv4.conf.all.rp_filter = 1, while answers leave by eth1"}},
		{"strict for all, loose here", func(b *Box) {
			set(b, "proc/sys/net/ipv4/conf/all/rp_filter", "1")
			set(b, "proc/sys/net/ipv4/conf/eth0/rp_filter", "2")
			b.Outward[0].Value.Link = "eth1"
		}, nil},
		{"a connected subnet", func(b *Box) {
			b.Unfit = config.Errors{{Path: "services[0].addresses[0]", Value: "192.0.2.53/32", Rule: "lies inside"}}
		},
			[]string{"error subnet: services[0].addresses[0]: 192.0.2.53/32"}},
		{"unreadable links", func(b *Box) { b.Unfit = denied }, []string{"unknown subnet: denied"}},
		{"a foreign link", func(b *Box) { b.Links[0].Err = &netlinkx.ForeignError{Link: "anycast0"} }, []string{"error link: not ours to touch"}},
		{"a kernel without dummy", func(b *Box) { b.Links[0].Value = netlinkx.State{} }, []string{"error link: kind: dummy"}},
		{"a kernel with ifb", func(b *Box) { b.Links[0].Value, b.Config.Services[0].Link.Kind = netlinkx.State{}, "ifb" }, nil},
		{"a kernel of which nothing is known", func(b *Box) {
			b.Links[0].Value = netlinkx.State{}
			set(b, "proc/sys/kernel/osrelease", "7.0")
		}, []string{"unknown link: /lib/modules"}},
		{"a kernel with a module that is elsewhere", func(b *Box) {
			b.Links[0].Value = netlinkx.State{}
			set(b, "proc/sys/kernel/osrelease", "7.0")
			set(b, "boot/config-7.0", "CONFIG_DUMMY=m")
		}, []string{"unknown link: dummy is a module"}},
		{"a kernel built without dummy", func(b *Box) {
			b.Links[0].Value = netlinkx.State{}
			set(b, "proc/sys/kernel/osrelease", "7.0")
			set(b, "boot/config-7.0", "# CONFIG_DUMMY is not set")
		}, []string{"error link: kind: dummy"}},
		{"no link to use", func(b *Box) { b.Links[0].Value, b.Config.Services[0].Link.Kind = netlinkx.State{}, "existing" },
			[]string{"error link: does not exist"}},
		{"no IPv6 on the link", func(b *Box) { set(b, "proc/sys/net/ipv6/conf/anycast0/disable_ipv6", "1") },
			[]string{"error ipv6: net.ipv6.conf.anycast0.disable_ipv6 = 1"}},
		{"a /proc without the network", func(b *Box) {
			maps.DeleteFunc(b.Files.(fstest.MapFS), func(path string, _ *fstest.MapFile) bool { return strings.HasPrefix(path, "proc/sys/net/") })
		}, []string{"unknown ipv6: /proc/sys/net/ipv6/conf/anycast0/disable_ipv6"}},
		{"no IPv6", func(b *Box) {
			delete(b.Files.(fstest.MapFS), "proc/sys/net/ipv6/conf/anycast0/disable_ipv6")
			delete(b.Files.(fstest.MapFS), "proc/sys/net/ipv6/conf/default/disable_ipv6")
		},
			[]string{"error ipv6: does not exist"}},
		{"a guard that went", func(b *Box) { b.Guards.Value = nil }, []string{"warning unreachable-route: 2001:db8:9::53/128"}},
		{"a forwarding box", func(b *Box) {
			set(b, "proc/sys/net/ipv4/ip_forward", "1")
			b.Config.Services[0].Link.Kind = "existing"
		}, []string{"warning forwarding: ip_forward = 1"}},
		{"networkd has the link", func(b *Box) {
			set(b, "proc/300/comm", "systemd-network")
			set(b, "run/systemd/netif/links/7", "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/99.network")
			set(b, "etc/systemd/networkd.conf", "[Network]\n#ManageForeignRoutes=no")
		}, []string{"warning network-manager: /etc/systemd/network/99.network", "note network-manager: ManageForeignRoutes"}},
		{"networkd and two services", func(b *Box) {
			set(b, "proc/300/comm", "systemd-network")
			b.Config.Services = append(b.Config.Services, b.Config.Services[0])
			b.Links, b.Wires = append(b.Links, b.Links[0]), append(b.Wires, nil)
		}, []string{"note network-manager: ManageForeignRoutes"}},
		{"networkd leaves all alone", func(b *Box) {
			set(b, "proc/300/comm", "systemd-network")
			set(b, "run/systemd/netif/links/7", "ADMIN_STATE=unmanaged")
			set(b, "etc/systemd/networkd.conf", "[Network]\nManageForeignRoutes=yes")
			set(b, "etc/systemd/networkd.conf.d/recuse.conf", "[Network]\nManageForeignRoutes = no")
		}, nil},
		{"a check that fails", func(b *Box) { b.Asked.Value[0] = asked("local-name", probe.Silent, 3) }, []string{"error answer: silent: OUTCOME (3 of 3"}},
		{"a check that fails once", func(b *Box) { b.Asked.Value[0] = asked("local-name", probe.Wrong, 1) }, []string{"warning answer: wrong: OUTCOME (1 of 3"}},
		{"a check for information", func(b *Box) { b.Asked.Value[0] = asked("x", probe.Wrong, 3); b.Asked.Value[0].Info = true }, []string{"note answer: wrong"}},
		{"the root's answer", func(b *Box) {
			b.Zones.Value = []agent.Sample{{Result: probe.Result{Cause: probe.Wrong, Outcome: "NXDOMAIN from zone . instead of lan."}}}
		}, []string{"warning local-name: from zone ."}},
		{"an address that is not listened on", func(b *Box) {
			b.Sockets.Value[0].Local = netip.MustParseAddrPort("127.0.0.1:53")
			b.Sockets.Value[1].Local = netip.MustParseAddrPort("[::1]:53")
		},
			[]string{"error listener: udp 192.0.2.53:53", "error listener: udp [2001:db8:9::53]:53"}},
		{"a server that waits for the address", func(b *Box) {
			b.Links[0].Value = netlinkx.State{Exists: true}
			for i, a := range []string{"127.0.0.1:53", "[::1]:53", "127.0.0.1:53", "[::1]:53"} {
				b.Sockets.Value[i].Local, b.Sockets.Value[i].Process = netip.MustParseAddrPort(a), "named"
			}
		}, nil},
		{"a server that may wait for the address", func(b *Box) {
			b.Links[0].Value = netlinkx.State{Exists: true}
			for i, a := range []string{"127.0.0.1:53", "[::]:53", "0.0.0.0:53", "[::]:53"} {
				b.Sockets.Value[i].Local, b.Sockets.Value[i].Process = netip.MustParseAddrPort(a), "dnsmasq"
			}
			b.Sockets.Value = slices.Delete(b.Sockets.Value, 1, 2)
		}, []string{"note listener: nobody listens on udp 192.0.2.53:53", "note listener: nobody listens on udp [2001:db8:9::53]:53"}},
		{"another server on the address", func(b *Box) {
			b.Sockets.Value = append(b.Sockets.Value, Socket{Local: netip.MustParseAddrPort("192.0.2.53:53"), Process: "dnsmasq", PID: 300})
		}, []string{"warning listener: dnsmasq (pid 300)"}},
		{"no tripwire", func(b *Box) { b.Wires[0] = errors.New("CONFIG_INET_DIAG") }, []string{"warning tripwire: CONFIG_INET_DIAG"}},
		{"a server in a container", func(b *Box) { b.Sockets.Value = b.Sockets.Value[4:] }, []string{"warning tripwire: no socket in this network namespace"}},
		{"a port of a container", func(b *Box) { b.Sockets.Value[0].Process, b.Sockets.Value[1].Process = "docker-proxy", "docker-proxy" },
			[]string{"warning tripwire: docker-proxy"}},
		{"another BFD", func(b *Box) { b.Sockets.Value[4].Process, b.Sockets.Value[4].PID = "bfdd", 300 }, []string{"error bfd-port: bfdd (pid 300)"}},
		{"a BFD of nobody knows whom", func(b *Box) { b.Sockets.Value[4].PID = 0 }, []string{"unknown bfd-port: may not look at"}},
		{"a port of nobody knows whom", func(b *Box) { b.Sockets.Value[0].PID, b.Sockets.Value[0].Process = 0, "unbound" },
			[]string{"unknown listener: owner of port 53"}},
		{"a BFD that may be the agent's", func(b *Box) {
			b.Agent, b.Sockets.Value[4].PID = Agent{Err: denied}, 0
		}, []string{"unknown agent: denied", "unknown bfd-port: may not look at"}},
		{"another BGP", func(b *Box) {
			b.Config.BGP.Listen = netip.MustParseAddrPort("198.51.100.11:179")
			b.Sockets.Value = append(b.Sockets.Value, Socket{TCP: true, Local: netip.MustParseAddrPort("[::]:179"), Process: "bgpd", PID: 300})
		}, []string{"error bgp-port: bgpd (pid 300)"}},
		{"rules that cannot be read", func(b *Box) { b.Rules.Err = denied }, []string{"unknown firewall: denied"}},
		{"a full table of connections", func(b *Box) { set(b, "proc/sys/net/netfilter/nf_conntrack_count", "60000") }, []string{"warning conntrack: = 60000 of"}},
		{"packets that found no room", func(b *Box) {
			set(b, "proc/net/stat/nf_conntrack", "entries drop early_drop\n0 00000010 0\n0 00000001 0")
		},
			[]string{"note conntrack: 17 packets"}},
		{"no connections", func(b *Box) { delete(b.Files.(fstest.MapFS), "proc/sys/net/netfilter/nf_conntrack_count") }, nil},
		{"no capability", func(b *Box) { set(b, "proc/200/status", "CapEff:\t0000000000000400") }, []string{"error capability: CAP_NET_ADMIN"}},
		{"no low ports", func(b *Box) {
			set(b, "proc/200/status", "CapEff:\t0000000000001000")
			b.Config.BGP.Listen = netip.MustParseAddrPort("198.51.100.11:179")
		}, []string{"error capability: CAP_NET_BIND_SERVICE"}},
		{"fast BFD", func(b *Box) {
			b.Config.BGP.Peers[0].BFD = &bgp.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}
			bfdOf(b).IntervalMS, bfdOf(b).RemoteIntervalMS = 50, 50
		},
			[]string{"warning scheduling: SCHED_OTHER"}},
		{"fast BFD in real time", func(b *Box) {
			b.Config.BGP.Peers[0].BFD = &bgp.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}
			bfdOf(b).IntervalMS, bfdOf(b).RemoteIntervalMS, bfdOf(b).Scheduling = 50, 50, "SCHED_RR 10"
		}, nil},
		{"no state_dir", func(b *Box) { b.StateDir.Err = fs.ErrNotExist }, []string{"note state-dir: does not exist"}},
		{"a state_dir that is not ours", func(b *Box) { b.StateDir.Err = denied }, []string{"unknown state-dir: denied"}},
		{"a state_dir that is read-only", func(b *Box) { b.StateDir.Err = errors.New("read-only file system") }, []string{"warning state-dir: read-only"}},
		{"a state_dir in memory", func(b *Box) { b.StateDir.Volatile = true }, []string{"warning state-dir: in memory"}},
		{"no group", func(b *Box) { b.NoGroup = errors.New("unknown group") }, []string{"note control-group: unknown group"}},
	}
	met := map[string]bool{"firewall": true}
	for _, tt := range tests {
		b := wellBox(t)
		tt.change(b)
		r := Examine(b)
		compare(t, tt.name, r, tt.want)
		for _, f := range r.Findings {
			met[f.Examination] = true
			if f.Seen == "" || f.Why == "" || f.WayOut == "" {
				t.Errorf("%s: an incomplete finding: %+v", tt.name, f)
			}
		}
	}
	for _, e := range examinations {
		if !met[e.name] {
			t.Errorf("no case for %s", e.name)
		}
	}
}

// compare wants exactly these findings, in any order.
func compare(t *testing.T, name string, r Report, want []string) {
	t.Helper()
	if len(r.Findings) != len(want) {
		t.Errorf("%s: got %d findings, want %d: %+v", name, len(r.Findings), len(want), r.Findings)
		return
	}
	for _, w := range want {
		head, part, _ := strings.Cut(w, ": ")
		found := false
		for _, f := range r.Findings {
			found = found || f.Severity.String()+" "+f.Examination == head && strings.Contains(f.Seen, part)
		}
		if !found {
			t.Errorf("%s: no %q in %+v", name, w, r.Findings)
		}
	}
	healthy := true
	for _, f := range r.Findings {
		healthy = healthy && f.Severity == Note
	}
	if r.Healthy() != healthy {
		t.Errorf("%s: healthy: %t", name, r.Healthy())
	}
}
