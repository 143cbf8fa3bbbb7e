package topology

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fileNode is a node that has a directory and nothing else.
func fileNode(t *testing.T) *Node {
	t.Helper()
	h := &Host{ShortName: "n2", Dir: t.TempDir()}
	return &Node{
		Host: h, LinkKind: "ifb", Index: 1, ASN: FirstNodeASN + 1, askAt: netip.MustParseAddr("127.0.0.1"),
		V4: nodeNet.v4(firstNode + 1), V6: nodeNet.v6(firstNode + 1),
	}
}

// read is a file of the node with its directory taken out.
func read(t *testing.T, n *Node, name string) string {
	t.Helper()
	text, err := os.ReadFile(n.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), n.Dir, "DIR")
}

func TestWriteConfig(t *testing.T) {
	n := fileNode(t)
	o := Options{
		Routers: 2, Addresses: DefaultAddresses(), HoldTime: 3 * time.Second, Password: "s3cret", TTLSecurity: true,
		BFD:       &BFD{Interval: 50 * time.Millisecond, Multiplier: 5},
		Configure: func(node int, config map[string]any) { config["bgp"].(map[string]any)["asn"] = 65100 + node },
	}
	if err := n.writeConfig(o); err != nil {
		t.Fatal(err)
	}
	want := `bgp:
    asn: 65101
    peers:
        - address: 10.60.0.1
          asn: 65000
          bfd:
            interval: 50ms
            multiplier: 5
          hold_time: 3s
          password_file: DIR/bgp-password
          ttl_security: true
        - address: 10.60.0.2
          asn: 65000
          bfd:
            interval: 50ms
            multiplier: 5
          hold_time: 3s
          password_file: DIR/bgp-password
          ttl_security: true
    router_id: 10.60.0.12
control:
    socket: DIR/recuse.sock
node: n2
services:
    - addresses:
        - 10.9.9.53/32
        - 2001:db8:9::53/128
      checks:
        - dns:
            name: '{random}.lan'
            rcode:
                - NOERROR
                - NXDOMAIN
            server: 127.0.0.1:53
            soa: lan
            type: A
          name: local-name
      link:
        kind: ifb
        name: anycast0
      name: dns
state_dir: DIR/state
`
	if d := cmp.Diff(want, read(t, n, ConfigFile)); d != "" {
		t.Errorf("unexpected configuration (-want +got):\n%s", d)
	}
	if d := cmp.Diff("s3cret\n", read(t, n, PasswordFile)); d != "" {
		t.Errorf("unexpected password file (-want +got):\n%s", d)
	}
	if err := n.Reconfigure(func(c map[string]any) { c["node"] = "renamed" }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Replace(want, "node: n2", "node: renamed", 1), read(t, n, ConfigFile)); d != "" {
		t.Errorf("unexpected changed configuration (-want +got):\n%s", d)
	}
}

// TestConfigFor shows what a router is configured from: the node's sessions
// with it, of both families, and nothing else changed.
func TestConfigFor(t *testing.T) {
	n := fileNode(t)
	o := Options{Routers: 2, Addresses: DefaultAddresses(), HoldTime: 9 * time.Second}
	o.Configure = func(_ int, config map[string]any) {
		bgp := config["bgp"].(map[string]any)
		bgp["peers"] = append(bgp["peers"].([]any), map[string]any{"address": "2001:db8:60::2", "asn": RouterASN})
	}
	if err := n.writeConfig(o); err != nil {
		t.Fatal(err)
	}
	whole := read(t, n, ConfigFile)
	for router, want := range map[int][]string{1: {"10.60.0.1"}, 2: {"10.60.0.2", "2001:db8:60::2"}} {
		path, err := n.configFor(router)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(read(t, n, strings.TrimPrefix(path, n.Dir+"/"))) {
			if _, address, ok := strings.Cut(line, "- address: "); ok {
				got = append(got, strings.Trim(address, "\n'\""))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("unexpected peers for router %d (-want +got):\n%s", router, d)
		}
	}
	if d := cmp.Diff(whole, read(t, n, ConfigFile)); d != "" {
		t.Errorf("the node's own file changed (-want +got):\n%s", d)
	}
}

func TestUnboundConfig(t *testing.T) {
	n := fileNode(t)
	everywhere := unboundConfig(n.Host, listenLines(nil), "serve-expired: yes\n")
	for _, want := range []string{"interface-automatic: yes\n", `nsid: "ascii_n2"`, "  serve-expired: yes\n", "stub-addr: 10.70.0.54\n"} {
		if !strings.Contains(everywhere, want) {
			t.Errorf("no %q in:\n%s", want, everywhere)
		}
	}
	loopback := unboundConfig(n.Host, listenLines([]netip.Addr{netip.MustParseAddr("127.0.0.1")}), "")
	if strings.Contains(loopback, "0.0.0.0\n") || !strings.Contains(loopback, "interface: 127.0.0.1\n") {
		t.Errorf("listens elsewhere than on loopback:\n%s", loopback)
	}
}
