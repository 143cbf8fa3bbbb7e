package incus

import (
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// other is the architecture that this machine is not.
func other() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

// TestOptions refuses what cannot be, each with its reason.
func TestOptions(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join("..", "..", "deploy", "systemd", "recuse.service")
	for _, c := range []struct {
		name string
		o    Options
		want string // in the error; "" for none
	}{
		{"defaults", Options{Recuse: self, Unit: unit}, ""},
		{"one node", Options{Recuse: self, Unit: unit, Nodes: 1}, "nodes 1: must be at least 2"},
		{"emulation unasked", Options{Recuse: self, Unit: unit, Arch: other()}, "emulated times say nothing"},
		{"emulation, wrong binary", Options{Recuse: self, Unit: unit, Arch: other(), Emulate: true}, "and the containers are " + other()},
		{"unknown machine", Options{Recuse: self, Unit: unit, Arch: "mips"}, `arch "mips": must be amd64 or arm64`},
		{"no unit", Options{Recuse: self, Unit: "none.service"}, "failed to find the unit"},
		{"no binary", Options{Recuse: "none", Unit: unit}, "failed to read program"},
		{"wrong AdGuard Home", Options{Recuse: self, Unit: unit, AdGuardHome: unit}, "failed to read program"},
		{"uplink left out", Options{Recuse: self, Unit: unit, Uplinks: map[string]string{"lan": "eth1", "wan": "eth2"}},
			"uplinks: clients: must name an interface"},
		{"uplink that is not there", Options{Recuse: self, Unit: unit, Uplinks: map[string]string{"clients": "lo", "lan": "lo", "wan": "gone0"}},
			`uplinks: wan: this machine has no interface "gone0"`},
		{"uplink of nowhere", Options{Recuse: self, Unit: unit, Uplinks: map[string]string{"lna": "eth1"}}, "uplinks: lna: is no network"},
		{"routes without a router", Options{Recuse: self, Unit: unit, Routes: "true"}, "needs uplinks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := c.o.withDefaults()
			if c.want == "" && (err != nil || o.Nodes != 3 || o.Arch != runtime.GOARCH || !filepath.IsAbs(o.Cache)) {
				t.Errorf("options %+v, %v", o, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestRecipe wants an image of its own for all that makes one differ, and for
// nothing else.
func TestRecipe(t *testing.T) {
	sum := func(o Options) string {
		s, err := recipe(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(s[:])
	}
	amd := sum(Options{Arch: "amd64"})
	if amd != sum(Options{Arch: "amd64", Nodes: 5, Tuned: true}) {
		t.Error("the image depends on the lab")
	}
	if amd == sum(Options{Arch: "arm64"}) {
		t.Error("the image does not depend on the machine")
	}
}

// TestAdGuard wants the home's zone asked at its own address, and a cache that
// obeys the options.
func TestAdGuard(t *testing.T) {
	o := Options{ServeStale: true, MaxTTL: 5 * time.Second}
	config := o.adguard(netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"))
	dns := config["dns"].(map[string]any)
	got := []any{dns["upstream_dns"], dns["cache_optimistic"], dns["cache_ttl_max"]}
	want := []any{[]string{"192.0.2.1", "[/lan/]192.0.2.2"}, true, 5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
