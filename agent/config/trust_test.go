package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/probe"
	"recuse/probe/probetest"
)

// withTLS returns minimal with a check over TLS whose authorities are in file.
func withTLS(file string) string {
	return strings.Replace(minimal, "dns: {}", "dns: {server: 'tls://127.0.0.1', server_name: dns.example, ca_file: "+file+"}", 1)
}

// TestAuthorities checks that a file of authorities is read with the
// configuration, so that two of them differ if it has changed.
func TestAuthorities(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	for range 2 {
		text := "# of this house\n" + probetest.NewAuthority(t).PEM()
		writeKey(t, file, text, 0o644)
		got := mustParse(t, withTLS(file)).Services[0].Checks[0].DNS.Trust
		if diff := cmp.Diff(probe.Trust{ServerName: "dns.example", CA: text}, got); diff != "" {
			t.Errorf("unexpected trust (-want +got):\n%s", diff)
		}
	}
}

// TestAuthoritiesErrors checks what is said of a file that holds none.
func TestAuthoritiesErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	tests := []struct{ name, text, want string }{
		{"empty", "", "holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"},
		{"a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
			"holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"},
		{"large", strings.Repeat("x", maxCA+1), "is larger than 4 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := parse("test.yaml", []byte(withTLS(file)), nil)
			want := `services[0].checks[0].dns.ca_file: "` + file + `": ` + tt.want
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestNamedPage checks that a page whose host is a name is taken with a
// warning.
func TestNamedPage(t *testing.T) {
	c := mustParse(t, strings.Replace(minimal, "dns: {}", "http: {url: 'https://www.example/'}", 1))
	want := []string{`services[0].checks[0].http.url: "https://www.example/": ` +
		"has a name for its host, which needs a resolver; use the address, and server_name for the name"}
	if diff := cmp.Diff(want, c.Warnings); diff != "" {
		t.Errorf("unexpected warnings (-want +got):\n%s", diff)
	}
}
