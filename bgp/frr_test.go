package bgp

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
)

const frrLib = "/usr/lib/frr/"

// frr is FRR's zebra and bgpd in a namespace.
type frr struct {
	l        *lab
	ns, dir  string
	stopBGPd func()
	stopBFDd func()
}

// frr starts the daemons; bgp is the body of "router bgp 65000".
func (l *lab) frr(ns, bgp string) *frr {
	l.t.Helper()
	f := &frr{l: l, ns: ns, dir: l.dir("frr:frr")}
	f.write("zebra.conf", "no zebra nexthop kernel enable\n")
	f.configure(bgp)
	f.zebra()
	f.bgpd()
	return f
}

// bfdProfile is 300 ms x 3 and 50 ms x 3 for FRR's bfdd.
const bfdProfile = `bfd
 profile slow
  transmit-interval 300
  receive-interval 300
 exit
 profile fast
  transmit-interval 50
  receive-interval 50
 exit
exit
`

// frrBFD is frr with a bfdd, which has the profiles slow and fast.
func (l *lab) frrBFD(ns, bgp string) *frr {
	l.t.Helper()
	f := &frr{l: l, ns: ns, dir: l.dir("frr:frr")}
	f.write("zebra.conf", "no zebra nexthop kernel enable\n")
	f.write("bfdd.conf", "log file "+f.dir+"/bfdd.log\n"+bfdProfile)
	f.configure(bgp)
	f.zebra()
	f.bfdd()
	f.bgpd()
	return f
}

// bfdd starts bfdd, again after stopBFDd.
func (f *frr) bfdd() {
	f.l.t.Helper()
	f.stopBFDd = f.l.start(f.ns, f.dir, frrLib+"bfdd", "-i", f.dir+"/bfdd.pid", "-z", f.dir+"/zserv.api",
		"--vty_socket", f.dir, "-f", f.dir+"/bfdd.conf", "--bfdctl", f.dir+"/bfdd.sock")
}

// zebra starts zebra and waits for its socket.
func (f *frr) zebra() {
	f.l.t.Helper()
	f.l.start(f.ns, f.dir, frrLib+"zebra", "-i", f.dir+"/zebra.pid", "-z", f.dir+"/zserv.api",
		"--vty_socket", f.dir, "-f", f.dir+"/zebra.conf")
	// A bgpd that comes too early tries again only after ten seconds.
	until(f.l.t, "zebra's socket", func() bool {
		c, err := net.Dial("unix", f.dir+"/zserv.api")
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// write writes a configuration file.
func (f *frr) write(name, text string) {
	f.l.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.l.t.Fatal(err)
	}
}

// configure writes bgpd's configuration, for the next bgpd.
func (f *frr) configure(bgp string) {
	f.write("bgpd.conf", "log file "+f.dir+"/bgpd.log\nrouter bgp 65000\n"+
		" bgp router-id 10.1.1.1\n bgp log-neighbor-changes\n"+
		" no bgp ebgp-requires-policy\n no bgp default ipv4-unicast\n no bgp network import-check\n"+bgp)
}

// bgpd starts bgpd, again after stopBGPd.
func (f *frr) bgpd() {
	f.l.t.Helper()
	f.stopBGPd = f.l.start(f.ns, f.dir, frrLib+"bgpd", "-i", f.dir+"/bgpd.pid", "-z", f.dir+"/zserv.api",
		"--vty_socket", f.dir, "-f", f.dir+"/bgpd.conf", "-p", "179")
}

// log is what bgpd has logged.
func (f *frr) log() string {
	f.l.t.Helper()
	log, err := os.ReadFile(f.dir + "/bgpd.log")
	if err != nil {
		f.l.t.Fatal(err)
	}
	return string(log)
}

// vtysh runs commands and returns the output, or "" as long as bgpd does not
// answer.
func (f *frr) vtysh(commands ...string) string {
	args := []string{"--vty_socket", f.dir, "-d", "bgpd"}
	for _, c := range commands {
		args = append(args, "-c", c)
	}
	out, err := exec.Command("vtysh", args...).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// frrPath is what FRR shows of a path.
type frrPath struct {
	ASPath, Origin, Communities, Large string
	MED, LocalPref                     *int
	Hops                               []string
}

// path returns the one path to a prefix, and whether there is one.
func (f *frr) path(prefix string) (frrPath, bool) {
	f.l.t.Helper()
	family := "ipv4"
	if strings.Contains(prefix, ":") {
		family = "ipv6"
	}
	var shown struct {
		Paths []struct {
			ASPath         struct{ String string }
			Origin         string
			Metric, LocPrf *int
			Community      struct{ String string }
			LargeCommunity struct{ String string }
			Nexthops       []struct{ IP string }
		}
	}
	if json.Unmarshal([]byte(f.vtysh("show bgp "+family+" unicast "+prefix+" json")), &shown) != nil || len(shown.Paths) != 1 {
		return frrPath{}, false
	}
	s := shown.Paths[0]
	p := frrPath{ASPath: s.ASPath.String, Origin: s.Origin, MED: s.Metric, LocalPref: s.LocPrf,
		Communities: s.Community.String, Large: s.LargeCommunity.String}
	for _, h := range s.Nexthops {
		p.Hops = append(p.Hops, h.IP)
	}
	return p, true
}

// expect waits until FRR shows that path, and fails with the difference.
func (f *frr) expect(prefix string, want frrPath) {
	f.l.t.Helper()
	var diff string
	if !holds(func() bool {
		got, _ := f.path(prefix)
		diff = cmp.Diff(want, got)
		return diff == ""
	}) {
		f.l.t.Fatalf("unexpected path to %s (-want +got):\n%s", prefix, diff)
	}
}

// gone waits until FRR has no path and the router's kernel no route.
func (f *frr) gone(prefix string) {
	f.l.t.Helper()
	until(f.l.t, prefix+" gone from the router", func() bool {
		_, ok := f.path(prefix)
		return !ok && f.l.routes(f.ns, prefix) == ""
	})
}

// installed waits until the router's kernel routes prefix to hop.
func (f *frr) installed(prefix, hop string) {
	f.l.t.Helper()
	until(f.l.t, prefix+" via "+hop+" in the router's kernel", func() bool {
		return strings.Contains(f.l.routes(f.ns, strings.TrimSuffix(strings.TrimSuffix(prefix, "/32"), "/128")), hop)
	})
}

// frrNeighbour is the configuration for one node in both families.
func frrNeighbour(addr string, asn uint32, extra ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, " neighbor %s remote-as %d\n neighbor %s passive\n", addr, asn, addr)
	for _, e := range extra {
		fmt.Fprintf(&b, " neighbor %s %s\n", addr, e)
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		fmt.Fprintf(&b, " address-family %s unicast\n  neighbor %s activate\n exit-address-family\n", family, addr)
	}
	return b.String()
}

// nodeConfig is a node with one peer.
func nodeConfig(peers ...Peer) Config {
	return Config{
		ASN: 65011, Communities: []string{"65000:53"},
		Deprefer: Deprefer{Prepend: 3, MED: 1000}, Peers: peers,
	}
}

// service are the routes of the tests.
var service = []string{"10.1.9.53/32", "2001:db8:9::53/128"}

// depreferred returns routes as second choice.
func depreferred(list []Route) []Route {
	var out []Route
	for _, r := range list {
		r.Depreferred = true
		out = append(out, r)
	}
	return out
}

func ptr(n int) *int { return &n }

// wantFull and wantDepreferred are what FRR shows for nodeConfig over eBGP.
func wantFull(hop string) frrPath {
	return frrPath{ASPath: "65011", Origin: "IGP", MED: ptr(0), Communities: "65000:53",
		Large: "65011:167837963:1937001", Hops: []string{hop}}
}

func wantDepreferred(hop string) frrPath {
	w := wantFull(hop)
	w.ASPath, w.MED = "65011 65011 65011 65011", ptr(1000)
	w.Communities = "65000:53 graceful-shutdown"
	w.Large = "65011:167837963:1937002"
	w.LocalPref = ptr(0) // FRR honours RFC 8326 by itself
	return w
}
