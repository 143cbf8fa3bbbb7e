package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWarnings checks settings that are legal and probably not meant.
func TestWarnings(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	writeKey(t, key, "secret\n", 0o644)
	second := "  - name: b\n    addresses: [10.1.9.54/32]\n    link: {name: b}\n    drain_file: /d\n    checks: [dns: {}]\n"
	tests := []struct {
		name, old, new string
		environ        string
		want           []string
	}{
		{"none", "", "", "RECUSE_TEST_REQUIRE_ROOT=1", nil},
		{"fixed name", "dns: {}", "dns: {name: localhost}", "", []string{`services[0].checks[0].dns.name: "localhost": ` +
			"has no {random}, so that an answer out of a cache passes for a healthy resolver"}},
		{"graceful shutdown", "asn: 65000", `asn: 65000` + "\n      communities: ['65535:0']", "",
			[]string{`bgp.peers[0].communities[0]: "65535:0": makes this node second choice for good; deprefer does that when it is due`}},
		{"password for all", "asn: 65000", "asn: 65000\n      password_file: " + key, "",
			[]string{`bgp.peers[0].password_file: "` + key + `": everybody may read it (mode 0644); chmod o= ` + key}},
		{"variable", "", "", "RECUSE_LOGLEVEL=debug",
			[]string{"RECUSE_LOGLEVEL: no such setting; did you mean RECUSE_LOG_LEVEL?"}},
		{"one drain file", "services:\n", "services:\n" + second + "  - drain_file: /d\n    name: c\n    addresses: [10.1.9.55/32]\n    link: {name: c}\n    checks: [dns: {}]\n", "",
			[]string{`services[1].drain_file: "/d": is that of services[0] too, so that it drains both`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustParse(t, strings.Replace(minimal, tt.old, tt.new, 1), tt.environ).Warnings
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// writeKey writes a password file.
func writeKey(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// TestPassword checks what a password file may hold.
func TestPassword(t *testing.T) {
	long := strings.Repeat("x", maxPassword)
	tests := []struct{ name, text, want, problem string }{
		{"no newline", "secret", "secret", ""},
		{"newline", "secret\n", "secret", ""},
		{"carriage return", "secret\r\n", "secret", ""},
		{"spaces count", " secret \n", " secret ", ""},
		{"longest", long + "\n", long, ""},
		{"too long", long + "x", "", "the password is longer than 80 bytes, the most that TCP MD5 takes"},
		{"far too long", strings.Repeat(long, 99), "", "the password is longer than 80 bytes, the most that TCP MD5 takes"},
		{"empty", "", "", "the file is empty; its first line is the password"},
		{"only a newline", "\n", "", "the file is empty; its first line is the password"},
		{"two lines", "a\nb\n", "", "the file has more than one line; its one line is the password"},
		{"two newlines", "a\n\n", "", "the file has more than one line; its one line is the password"},
		{"zero byte", "a\x00b", "", "the file has a zero byte; its one line is the password"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := filepath.Join(t.TempDir(), "key")
			writeKey(t, key, tt.text, 0o600)
			text := strings.Replace(minimal, "asn: 65000", "asn: 65000\n      password_file: "+key, 1)
			c, err := parse("test.yaml", []byte(text), nil)
			if tt.problem != "" {
				want := `bgp.peers[0].password_file: "` + key + `": ` + tt.problem
				if err == nil || err.Error() != want {
					t.Errorf("unexpected error:\n got %v\nwant %s", err, want)
				}
				return
			}
			if err != nil || c.BGP.Peers[0].Password != tt.want || len(c.Warnings) > 0 {
				t.Errorf("unexpected outcome: %+v, %v", c, err)
			}
		})
	}
}
