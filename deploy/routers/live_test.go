package routers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A peer is a BIRD that behaves like a node towards the router.
type peer struct {
	Node
	space
	dir string
	// Depreferred says so by GRACEFUL_SHUTDOWN alone, without prepend and MED, so
	// that the test shows that the router minds it.
	Depreferred bool
	// Multi makes the peer's BFD multihop (RFC 5883).
	Multi bool
	kill  func()
}

// peerText is the peer's bird.conf. Beside the services it announces what the
// router must refuse, and it takes all that it is sent.
var peerText = template.Must(template.New("peer").Parse(`
router id {{.RouterID}};
protocol device {}
protocol bfd {}
protocol static own4 { ipv4; route 203.0.113.53/32 unreachable; route 203.0.113.54/32 unreachable; route 203.0.113.0/24 unreachable; }
protocol static own6 { ipv6; route 2001:db8:53::53/128 unreachable; route 2001:db8:53::54/128 unreachable; route 2001:db8:53::/64 unreachable; }
filter announce {
	if source != RTS_STATIC then reject;
	bgp_large_community.add(({{.ASN}}, {{.Mark}}, {{if .Depreferred}}1937002{{else}}1937001{{end}}));
	{{if .Depreferred}}bgp_community.add((65535, 0)); {{if .Internal}}bgp_local_pref = 0;{{end}}{{end}}
	accept;
}
protocol bgp upstream {
	local {{.Address}} as {{.ASN}};
	neighbor {{.RouterAddress}} as {{.RouterASN}};
	{{if .Multi}}multihop 2{{else}}direct{{end}};
	{{if .Password}}password "{{.Password}}";{{end}}
	{{if .TTLSecurity}}ttl security on;{{end}}
	{{if .BFD}}bfd { interval 100 ms; multiplier 5; };{{end}}
	graceful restart off;
	allow local as 1;
	connect delay time 1; connect retry time 1; error wait time 1, 2;
	ipv4 { import all; export filter announce; };
	ipv6 { import all; export filter announce; };
}
`))

// RouterID is the peer's router id, the last part of its address.
func (p *peer) RouterID() string { return fmt.Sprintf("192.0.2.%d", p.host()) }

// Mark is the router id as a number.
func (p *peer) Mark() uint32 { return 192<<24 | 2<<8 | uint32(p.host()) }

// Internal reports whether the session is iBGP.
func (p *peer) Internal() bool { return p.internal() }

// host is the last byte of the peer's addresses, which both families share as
// written.
func (p *peer) host() int {
	s := p.Address.String()
	var host int
	fmt.Sscanf(s[strings.LastIndexAny(s, ".:")+1:], "%d", &host)
	return host
}

// configure writes the peer's configuration.
func (p *peer) configure(t *testing.T) {
	t.Helper()
	var b strings.Builder
	if err := peerText.Execute(&b, p); err != nil {
		t.Fatalf("failed to write a peer's configuration: %v", err)
	}
	write(t, p.dir, "bird.conf", b.String())
}

// ask returns birdc's answer.
func (p *peer) ask(words ...string) (string, error) {
	out, err := exec.Command("birdc", append([]string{"-s", p.dir + "/bird.ctl"}, words...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("failed to ask a peer: %w: %s", err, out)
	}
	return string(out), nil
}

// prefer changes what the peer says of its routes, in one UPDATE.
func (p *peer) prefer(t *testing.T, depreferred bool) {
	t.Helper()
	p.Depreferred = depreferred
	p.configure(t)
	if out, err := p.ask("configure"); err != nil || !strings.Contains(out, "Reconfigured") {
		t.Fatalf("failed to reconfigure a peer: %v: %s", err, out)
	}
}

// sees returns whether the router sent the peer a route of another's with the mark
// of announced, for every service prefix.
func (p *peer) sees(other *peer) error {
	mark := fmt.Sprintf("(%d, %d, 1937001)", other.ASN, other.Mark())
	for _, prefix := range p.Prefixes {
		out, err := p.ask("show", "route", "protocol", "upstream", "all", "for", prefix.String())
		if err != nil {
			return err
		}
		if !strings.Contains(out, mark) {
			return fmt.Errorf("%s sees no mark %s for %s:\n%s", p.Name, mark, prefix, out)
		}
	}
	return nil
}

// newLAN makes a router's namespace, and a peer for each node on its one LAN.
func newLAN(t *testing.T, kind string, nodes []Node) (space, []*peer) {
	t.Helper()
	r := newSpace(t)
	r.ip(t, "link", "add", "lan", "type", "bridge")
	r.ip(t, "address", "add", "192.0.2.1/24", "dev", "lan")
	r.ip(t, "address", "add", "2001:db8::1/64", "dev", "lan", "nodad")
	r.ip(t, "link", "set", "lan", "up")
	var peers []*peer
	for i, n := range nodes {
		p := &peer{Node: n, space: newSpace(t), dir: daemonDir(t)}
		// FRR 8.4 takes an eBGP session with GTSM for one of many hops.
		p.Multi = kind == "frr" && n.BFD != nil && n.TTLSecurity && !n.internal()
		port := fmt.Sprintf("port%d", i)
		r.ip(t, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", p.space.name)
		r.ip(t, "link", "set", port, "master", "lan", "up")
		p.ip(t, "address", "add", p.RouterID()+"/24", "dev", "eth0")
		p.ip(t, "address", "add", fmt.Sprintf("2001:db8::%d/64", p.host()), "dev", "eth0", "nodad")
		p.ip(t, "link", "set", "eth0", "up")
		p.configure(t)
		run(t, "bird", "-p", "-c", p.dir+"/bird.conf")
		p.kill = p.start(t, p.dir, "bird", "-f", "-c", p.dir+"/bird.conf", "-s", p.dir+"/bird.ctl", "-P", p.dir+"/bird.pid")
		peers = append(peers, p)
	}
	return r, peers
}

// kernel returns the routes that the router put into its kernel, each with the
// number of its next hops, or for IPv4 with the hosts that they are.
func kernel(s space) (map[string]string, error) {
	found := map[string]string{}
	for _, family := range []string{"-4", "-6"} {
		out, err := exec.Command("ip", "-n", s.name, "-j", family, "route").Output()
		if err != nil {
			return nil, fmt.Errorf("failed to list routes: %w", err)
		}
		type hop struct{ Gateway, Via string }
		var routes []struct {
			Dst, Protocol, Gateway string
			Nexthops               []hop
		}
		if err := json.Unmarshal(out, &routes); err != nil {
			return nil, fmt.Errorf("failed to read routes: %w", err)
		}
		for _, r := range routes {
			if r.Protocol != "bgp" && r.Protocol != "bird" {
				continue
			}
			if r.Gateway != "" {
				r.Nexthops = append(r.Nexthops, hop{Gateway: r.Gateway})
			}
			found[r.Dst] = fmt.Sprint(len(r.Nexthops))
			if family == "-4" {
				var hosts []string
				for _, h := range r.Nexthops {
					hosts = append(hosts, h.Gateway[strings.LastIndexByte(h.Gateway, '.')+1:])
				}
				slices.Sort(hosts)
				found[r.Dst] = strings.Join(hosts, " ")
			}
		}
	}
	return found, nil
}

// wantKernel waits until the router's kernel has the service prefixes and nothing
// else from the routing daemon, by way of these IPv4 hosts.
func wantKernel(t *testing.T, s space, step, hosts string) {
	t.Helper()
	want := map[string]string{
		"203.0.113.53":    hosts,
		"2001:db8:53::53": fmt.Sprint(len(strings.Fields(hosts))),
	}
	eventually(t, step, func() error {
		got, err := kernel(s)
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			return fmt.Errorf("unexpected routes in the kernel (-want +got):\n%s", diff)
		}
		return err
	})
}

// TestLiveExternal runs each router on its text, with three eBGP nodes: sessions
// over both families, two ASNs, MD5, GTSM, BFD.
func TestLiveExternal(t *testing.T) {
	need(t, true, "ip", "bird", "birdc", "vtysh", frrDir+"bgpd")
	bfd := &BFD{Interval: 100 * time.Millisecond, Multiplier: 5}
	nodes := []Node{
		node("n1", "192.0.2.11", func(n *Node) { n.BFD = bfd }),
		node("n2", "192.0.2.12", asn(65012), func(n *Node) { n.BFD, n.Password, n.TTLSecurity = bfd, "s3$cret", true }),
		node("n3", "2001:db8::13", asn(65012), func(n *Node) { n.Password = "other" }),
	}
	for _, kind := range []string{"frr", "bird"} {
		t.Run(kind, func(t *testing.T) {
			s, peers := newLAN(t, kind, nodes)
			r := startRouter(t, s, kind, nodes)
			wantKernel(t, s, "three nodes of two ASNs share the load", "11 12 13")
			wantBFD(t, r, 2)
			wantNoRestart(t, peers)

			peers[0].prefer(t, true)
			wantKernel(t, s, "n1 is second choice", "12 13")
			eventually(t, "n1 sees that others serve", func() error {
				return errors.Join(
					either(peers[0].sees(peers[1]), peers[0].sees(peers[2])))
			})
			peers[1].prefer(t, true)
			wantKernel(t, s, "n1 and n2 are second choice", "13")
			eventually(t, "n1 and n2, which has the ASN of n3, see n3", func() error {
				return errors.Join(peers[0].sees(peers[2]), peers[1].sees(peers[2]))
			})
			peers[2].prefer(t, true)
			wantKernel(t, s, "all are second choice, and serve", "11 12 13")
			peers[2].kill()
			wantKernel(t, s, "n3 is killed", "11 12")
			peers[0].prefer(t, false)
			wantKernel(t, s, "n1 is back", "11")
		})
	}
}

// TestLiveInternal runs each router as the reflector of two iBGP nodes.
func TestLiveInternal(t *testing.T) {
	need(t, true, "ip", "bird", "birdc", "vtysh", frrDir+"bgpd")
	nodes := []Node{
		node("n1", "192.0.2.11", asn(65000), func(n *Node) {
			n.TTLSecurity, n.BFD = true, &BFD{Interval: 100 * time.Millisecond, Multiplier: 5}
		}),
		node("n2", "2001:db8::12", asn(65000), func(n *Node) { n.Password = "other" }),
	}
	for _, kind := range []string{"frr", "bird"} {
		t.Run(kind, func(t *testing.T) {
			s, peers := newLAN(t, kind, nodes)
			r := startRouter(t, s, kind, nodes)
			wantKernel(t, s, "both nodes share the load", "11 12")
			wantBFD(t, r, 1)
			wantNoRestart(t, peers)
			peers[0].prefer(t, true)
			wantKernel(t, s, "n1 is second choice", "12")
			eventually(t, "n1 sees n2", func() error { return peers[0].sees(peers[1]) })
			peers[1].prefer(t, true)
			wantKernel(t, s, "both are second choice, and serve", "11 12")
			peers[1].kill()
			wantKernel(t, s, "n2 is killed", "11")
		})
	}
}

// either returns nil if one of the two is, else both.
func either(a, b error) error {
	if a == nil || b == nil {
		return nil
	}
	return errors.Join(a, b)
}

// wantBFD waits until that many BFD sessions are up at the router.
func wantBFD(t *testing.T, r router, want int) {
	t.Helper()
	eventually(t, "BFD is up", func() error {
		up, err := r.bfdUp()
		if err == nil && up != want {
			err = fmt.Errorf("%d sessions are up, want %d", up, want)
		}
		return err
	})
}

// wantNoRestart checks that the router offers no graceful restart to any peer.
func wantNoRestart(t *testing.T, peers []*peer) {
	t.Helper()
	for _, p := range peers {
		out, err := p.ask("show", "protocols", "all", "upstream")
		if err != nil {
			t.Fatal(err)
		}
		_, neighbor, found := strings.Cut(out, "Neighbor capabilities")
		if !found {
			t.Fatalf("no capabilities of the router in:\n%s", out)
		}
		neighbor, _, _ = strings.Cut(neighbor, "Session:")
		for _, word := range []string{"Graceful restart", "Long-lived"} {
			if strings.Contains(neighbor, word) {
				t.Errorf("%s: the router offers %q:\n%s", p.Name, word, neighbor)
			}
		}
	}
}
