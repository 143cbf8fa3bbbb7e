package config

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recuse/bgp"
	"recuse/probe"
	"recuse/probe/dnsx"
)

// minimal has only what has no default.
const minimal = `
bgp:
  asn: 65011
  peers:
    - address: 10.1.1.1
      asn: 65000
services:
  - addresses: [10.1.9.53/32]
    checks:
      - dns: {}
`

// equal compares the types of package net/netip by ==.
func equal() cmp.Option {
	return cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{}, netip.Prefix{})
}

// mustParse parses a text that must be right.
func mustParse(t *testing.T, text string, environ ...string) *Config {
	t.Helper()
	c, err := parse("test.yaml", []byte(text), environ)
	if err != nil {
		t.Fatalf("unexpected errors:\n%v", err)
	}
	return c
}

// defaults is what minimal must come to.
func defaults(t *testing.T) *Config {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return &Config{
		Path: "test.yaml", Node: host, StateDir: "/var/lib/recuse",
		Control: Control{Socket: "/run/recuse/recuse.sock", Group: "recuse"},
		HTTP:    HTTP{Listen: "127.0.0.1:9953"},
		Log:     Log{Level: slog.LevelInfo, Format: "text"},
		BGP: bgp.Config{ASN: 65011, Deprefer: bgp.Deprefer{Prepend: 3, MED: 1000},
			Peers: []bgp.Peer{{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65000, Port: 179,
				HoldTime: 9 * time.Second, ConnectRetry: 2 * time.Second}}},
		Services: []Service{{
			Name:        "anycast0",
			Addresses:   []netip.Prefix{netip.MustParsePrefix("10.1.9.53/32")},
			Link:        Link{Name: "anycast0", Kind: "dummy", WhenOut: "down"},
			On:          On{Dead: "withdraw", Sick: "yield", Slow: "yield"},
			Policy:      "all",
			SilentAfter: 3 * time.Second, YieldWait: 3 * time.Second, Settle: 200 * time.Millisecond,
			Drain: time.Second, DrainTimeout: 10 * time.Second,
			Hold: Hold{Min: 5 * time.Second, Max: 5 * time.Minute}, Failback: "auto",
			Checks: []Check{{
				Check: probe.Check{Name: "dns", Interval: time.Second, Timeout: 500 * time.Millisecond,
					FastInterval: 50 * time.Millisecond,
					Rules: probe.Rules{Fall: 3, Rise: 5, SilentAfter: 3 * time.Second, UnknownAfter: time.Minute,
						Slow: probe.SlowTest{Tolerate: 0.05, ActAt: 0.3, Threshold: 12}}},
				Kind: "dns",
				DNS: &dnsx.Config{Server: dnsx.Server{Net: "udp", Addr: netip.MustParseAddrPort("127.0.0.1:53")},
					Name: "{random}.lan", Type: 1, Rcodes: []int{0, 3},
					Alive: []string{"id.server CH TXT", ". NS", "localhost A", "healthcheck.adguardhome.test A"}},
				Failure: "auto", Tripwire: "kernel",
			}},
		}},
	}
}

// TestDefaults checks that the least configuration has every default.
func TestDefaults(t *testing.T) {
	if diff := cmp.Diff(defaults(t), mustParse(t, minimal), equal()); diff != "" {
		t.Errorf("unexpected configuration (-want +got):\n%s", diff)
	}
}

// TestEverything checks that a file with every key comes to what it says.
func TestEverything(t *testing.T) {
	got, err := Load("testdata/everything.yaml")
	if err != nil {
		t.Fatalf("unexpected errors:\n%v", err)
	}
	if diff := cmp.Diff(everything(), got, equal()); diff != "" {
		t.Errorf("unexpected configuration (-want +got):\n%s", diff)
	}
}

// TestComparable checks that two readings of one file are equal, and that a
// changed setting makes them differ.
func TestComparable(t *testing.T) {
	one, two := mustParse(t, minimal), mustParse(t, minimal)
	if !reflect.DeepEqual(one, two) {
		t.Error("two readings of one file differ")
	}
	three := mustParse(t, strings.Replace(minimal, "dns: {}", "dns: {type: AAAA}", 1))
	if reflect.DeepEqual(one, three) {
		t.Error("readings of different files are equal")
	}
}

// TestLoadFile checks files that cannot be read as one.
func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, make([]byte, maxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing.yaml")
	tests := []struct{ name, path, want string }{
		{"missing", missing, "open " + missing + ": no such file or directory"},
		{"directory", dir, dir + " is a directory; name the file in it"},
		{"too large", large, large + " is larger than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(tt.path)
			if err == nil || err.Error() != "failed to read the configuration: "+tt.want {
				t.Errorf("unexpected error: %v", err)
			}
		})
	}
	if _, err := Load(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error does not wrap fs.ErrNotExist: %v", err)
	}
}

// TestUnreadable checks a file that exists and may not be read.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		// For root every file is readable, but a process's memory is not at
		// its address 0.
		_, err := Load("/proc/self/mem")
		if err == nil || !strings.Contains(err.Error(), "/proc/self/mem: input/output error") {
			t.Errorf("unexpected error: %v", err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(minimal), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unexpected error: %v", err)
	}
}

// TestErrorsInFileOrder checks that problems carry their place and that they
// come in the order of the file, those of the environment first.
func TestErrorsInFileOrder(t *testing.T) {
	text := strings.Replace(minimal, "asn: 65000", "asn: 0", 1) + "    settle: 5\nnode: a b\n"
	_, err := parse("test.yaml", []byte(text), []string{"RECUSE_BGP_ASN=x", "RECUSE_LOG_LEVEL=loud"})
	var problems Errors
	if !errors.As(err, &problems) {
		t.Fatalf("unexpected error: %v", err)
	}
	type at struct {
		path         string
		line, column int
	}
	var got []at
	for _, p := range problems {
		got = append(got, at{p.Path, p.Line, p.Column})
	}
	want := []at{
		{"RECUSE_LOG_LEVEL", 0, 0}, {"RECUSE_BGP_ASN", 0, 0},
		{"bgp.peers[0].asn", 6, 7}, {"services[0].settle", 11, 5}, {"node", 12, 1},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(at{})); diff != "" {
		t.Errorf("unexpected problems (-want +got):\n%s", diff)
	}
}

// TestSocket proves that commands find the agent while its file is wrong.
func TestSocket(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"wrong elsewhere": {"control: {socket: /run/a.sock}\nbgp: {asn: x, y: z}\n",
			"/run/a.sock"},
		"not named": {"node: a\n", DefaultSocket},
		"not YAML":  {"\t", DefaultSocket},
	} {
		path := filepath.Join(t.TempDir(), "recuse.yaml")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Socket(path); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	if got := Socket("/nowhere/recuse.yaml"); got != DefaultSocket {
		t.Errorf("no file: got %s, want %s", got, DefaultSocket)
	}
}
