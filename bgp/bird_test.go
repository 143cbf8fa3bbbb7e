package bgp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// birdConf is a BIRD 2 router for lab.pair's node, over IPv4.
const birdConf = `
router id 10.1.1.1;
protocol device {}
protocol direct { ipv4; ipv6; }
protocol kernel k4 { ipv4 { export all; }; }
protocol kernel k6 { ipv6 { export all; }; }
protocol bgp node {
	local 10.1.1.1 as 65000;
	neighbor 10.1.1.11 as 65011;
	passive on;
	password "secret";
	ttl security on;
	error wait time 1, 2;
	graceful restart off;
	ipv4 { import all; export none; };
	ipv6 { import all; export none; };
}
`

// bird is BIRD in a namespace.
type bird struct {
	l       *lab
	ns, dir string
	stop    func()
}

// bird starts BIRD with birdConf.
func (l *lab) bird(ns string) *bird {
	l.t.Helper()
	return l.birdWith(ns, birdConf)
}

// birdWith starts BIRD with that configuration.
func (l *lab) birdWith(ns, conf string) *bird {
	l.t.Helper()
	b := &bird{l: l, ns: ns, dir: l.dir("")}
	if err := os.WriteFile(filepath.Join(b.dir, "bird.conf"), []byte(conf), 0o644); err != nil {
		l.t.Fatal(err)
	}
	b.start()
	return b
}

// start starts the daemon, again after stop.
func (b *bird) start() {
	b.stop = b.l.start(b.ns, b.dir, "bird", "-f", "-c", b.dir+"/bird.conf", "-s", b.dir+"/ctl", "-P", b.dir+"/pid")
}

// route is what BIRD shows of a route.
func (b *bird) route(prefix string) string {
	out, _ := exec.Command("birdc", "-s", b.dir+"/ctl", "show", "route", "for", prefix, "all").Output()
	return string(out)
}

// shows waits until BIRD's route to prefix has all of these in it.
func (b *bird) shows(prefix string, want ...string) {
	b.l.t.Helper()
	var got string
	if !holds(func() bool {
		got = b.route(prefix)
		for _, w := range want {
			if !strings.Contains(got, w) {
				return false
			}
		}
		return true
	}) {
		b.l.t.Fatalf("BIRD's route lacks one of %q:\n%s", want, got)
	}
}

// BIRD takes both families with MD5 and GTSM, sees a second choice as one
// change, and gets everything again after its restart.
func TestBIRD(t *testing.T) {
	l := newLab(t, "bird", "birdc")
	node, router := l.pair()
	b := l.bird(router)
	s := l.speaker(node, nodeConfig(v4Peer().with(func(p *Peer) { p.Password, p.TTLSecurity = "secret", true })))
	s.set(routes(service...))
	installed := func(prefix, hop string, want bool) {
		t.Helper()
		until(t, "kernel routes of "+prefix, func() bool { return strings.Contains(l.routes(router, prefix), hop) == want })
	}
	b.shows(service[0], "BGP.as_path: 65011\n", "BGP.next_hop: 10.1.1.11\n", "BGP.med: 0\n",
		"BGP.community: (65000,53)", "BGP.large_community: (65011, 167837963, 1937001)")
	b.shows(service[1], "BGP.next_hop: 2001:db8:1::11\n")
	s.set(depreferred(routes(service...)))
	b.shows(service[0], "BGP.as_path: 65011 65011 65011 65011\n", "BGP.med: 1000\n",
		"(65535,0)", "(65011, 167837963, 1937002)")
	b.stop()
	s.says(0, "10.1.1.1")
	b.start()
	s.set(routes(service...))
	for prefix, hop := range map[string]string{"10.1.9.53": "10.1.1.11", "2001:db8:9::53": "2001:db8:1::11"} {
		installed(prefix, hop, true)
	}
	s.set(nil)
	installed("10.1.9.53", "10.1.1.11", false)
	installed("2001:db8:9::53", "2001:db8:1::11", false)
}
