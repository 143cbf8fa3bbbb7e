package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/probe"
)

// TestNewErrors proves that a page that can never be asked for is refused.
func TestNewErrors(t *testing.T) {
	const rule = "not a URL of a host, beginning with http:// or https://"
	tests := []struct {
		config Config
		want   string
	}{
		{Config{}, `url: "": ` + rule},
		{Config{URL: "127.0.0.1:80"}, `url: "127.0.0.1:80": ` + rule},
		{Config{URL: "ftp://127.0.0.1/"}, `url: "ftp://127.0.0.1/": ` + rule},
		{Config{URL: "http:///x"}, `url: "http:///x": ` + rule},
		{Config{URL: "https://127.0.0.1/", Trust: probe.Trust{Insecure: true, CA: "x"}},
			"insecure takes any certificate, so it excludes authorities and pins"},
	}
	for _, tt := range tests {
		if _, err := New(tt.config); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// TestNewTargets proves what is asked for under which name, and where.
func TestNewTargets(t *testing.T) {
	tests := []struct{ url, name, asked, as, host string }{
		{"http://127.0.0.1", "", "http://127.0.0.1", "127.0.0.1:80", "127.0.0.1:80"},
		{"https://127.0.0.1/x", "a.example", "https://a.example/x", "a.example:443", "127.0.0.1:443"},
		{"https://[::1]:8443/x", "a.example", "https://a.example:8443/x", "a.example:8443", "[::1]:8443"},
		{"https://[::1]/", "2001:db8::1", "https://[2001:db8::1]/", "[2001:db8::1]:443", "[::1]:443"},
		{"https://[::1]/", "192.0.2.1", "https://192.0.2.1/", "192.0.2.1:443", "[::1]:443"},
	}
	for _, tt := range tests {
		p := prober(t, Config{URL: tt.url, Trust: probe.Trust{ServerName: tt.name}})
		got := [3]string{p.url, p.as, p.host}
		if diff := cmp.Diff([3]string{tt.asked, tt.as, tt.host}, got); diff != "" {
			t.Errorf("%s: unexpected target (-want +got):\n%s", tt.url, diff)
		}
	}
}
