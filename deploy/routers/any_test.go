package routers

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyNode draws the i-th node of a set, any that check lets through.
func anyNode(t *rapid.T, i int) Node {
	n := Node{
		Name:          rapid.StringMatching(`[A-Za-z0-9._-]{1,70}`).Draw(t, "name"),
		ASN:           rapid.SampledFrom([]uint32{65000, 65011, 65012, 4200000001}).Draw(t, "asn"),
		RouterASN:     65000,
		Address:       netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)}),
		RouterAddress: netip.MustParseAddr("192.0.2.1"),
		Password:      rapid.StringMatching(`([!#->@-[\]-~]{1,80})?`).Draw(t, "password"),
		HoldTime:      time.Duration(rapid.IntRange(3, 3600).Draw(t, "hold")) * time.Second,
	}
	if rapid.Bool().Draw(t, "ipv6 session") {
		n.Address = netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", 0x10+i))
		n.RouterAddress = netip.MustParseAddr("2001:db8::1")
	}
	n.TTLSecurity = rapid.Bool().Draw(t, "gtsm")
	if !n.TTLSecurity {
		n.Multihop = rapid.IntRange(0, 255).Draw(t, "multihop")
	}
	if rapid.Bool().Draw(t, "bfd") {
		n.BFD = &BFD{
			Interval:   time.Duration(rapid.IntRange(10, 60000).Draw(t, "interval")) * time.Millisecond,
			Multiplier: rapid.IntRange(2, 255).Draw(t, "multiplier"),
		}
	}
	pool := prefixes("203.0.113.53/32", "203.0.113.0/24", "198.51.100.0/25", "2001:db8:53::53/128", "2001:db8:53::/48")
	n.Prefixes = rapid.SliceOfN(rapid.SampledFrom(pool), 1, 6).Draw(t, "prefixes")
	return n
}

// TestAnyNodesAreAccepted has FRR and BIRD read the text of any nodes that check
// lets through: no name, password or timer may leave the line that it stands in.
func TestAnyNodesAreAccepted(t *testing.T) {
	need(t, false, "vtysh", "bird")
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		nodes := make([]Node, rapid.IntRange(1, 6).Draw(t, "nodes"))
		for i := range nodes {
			nodes[i] = anyNode(t, i)
		}
		for router, reader := range map[string][]string{
			"frr":  {"vtysh", "-C", "-f"},
			"bird": {"bird", "-p", "-c"},
		} {
			text, err := Render(router, nodes)
			if err != nil {
				t.Fatalf("failed to render: %v", err)
			}
			path := filepath.Join(dir, router)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatalf("failed to write text: %v", err)
			}
			out, err := exec.Command(reader[0], append(reader[1:], path)...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Fatalf("%s complains: %v: %s\n%s", router, err, out, text)
			}
		}
	})
}
