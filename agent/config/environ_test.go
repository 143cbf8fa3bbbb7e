package config

import (
	"log/slog"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironment checks that variables go before the file.
func TestEnvironment(t *testing.T) {
	text := minimal + "node: file\nlog: {level: error}\n"
	got := mustParse(t, text, "RECUSE_NODE=environment", "RECUSE_BGP_ASN=65012",
		"RECUSE_BGP_ROUTER_ID=10.1.1.12", "RECUSE_BGP_DEPREFER_MED=7", "RECUSE_STATE_DIR=/state",
		"RECUSE_CONTROL_SOCKET=/s", "RECUSE_HTTP_LISTEN=", "RECUSE_LOG_LEVEL=debug", "OTHER=1")
	want := defaults(t)
	want.Node, want.StateDir, want.Control.Socket, want.HTTP.Listen = "environment", "/state", "/s", ""
	want.Log.Level = slog.LevelDebug
	want.BGP.ASN, want.BGP.RouterID, want.BGP.Deprefer.MED = 65012, netip.MustParseAddr("10.1.1.12"), 7
	if diff := cmp.Diff(want, got, equal()); diff != "" {
		t.Errorf("unexpected configuration (-want +got):\n%s", diff)
	}
}

// TestEnvironmentComplete checks that a setting that the file lacks can come
// from the environment alone.
func TestEnvironmentComplete(t *testing.T) {
	text := "bgp:\n  peers: [{address: 10.1.1.1, asn: 65000}]\n" +
		"services: [{addresses: [10.1.9.53/32], checks: [{dns: {}}]}]\n"
	if diff := cmp.Diff(defaults(t), mustParse(t, text, "RECUSE_BGP_ASN=65011"), equal()); diff != "" {
		t.Errorf("unexpected configuration (-want +got):\n%s", diff)
	}
}

// TestEnvironmentNames checks which settings have a variable.
func TestEnvironmentNames(t *testing.T) {
	var got []string
	for name := range envNames() {
		got = append(got, name)
	}
	slices.Sort(got)
	want := []string{"RECUSE_BGP_ASN", "RECUSE_BGP_DEPREFER_MED", "RECUSE_BGP_DEPREFER_PREPEND",
		"RECUSE_BGP_LISTEN", "RECUSE_BGP_ROUTER_ID", "RECUSE_CONTROL_GROUP", "RECUSE_CONTROL_SOCKET",
		"RECUSE_HTTP_LISTEN", "RECUSE_LOG_FORMAT", "RECUSE_LOG_LEVEL", "RECUSE_NODE", "RECUSE_STATE_DIR"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected names (-want +got):\n%s", diff)
	}
}

// TestEnvironmentErrors checks that an error names the variable, not the path
// in a file that may not even have it.
func TestEnvironmentErrors(t *testing.T) {
	tests := []struct{ name, variable, want string }{
		{"number", "RECUSE_BGP_ASN=many", `RECUSE_BGP_ASN: "many": must be a whole number from 1 to 4294967294`},
		{"empty", "RECUSE_BGP_ASN=", `RECUSE_BGP_ASN: "": must be a whole number from 1 to 4294967294`},
		{"word", "RECUSE_LOG_FORMAT=xml", `RECUSE_LOG_FORMAT: "xml": must be text or json`},
		{"path", "RECUSE_STATE_DIR=x", `RECUSE_STATE_DIR: "x": must be an absolute path, beginning with /`},
		{"service address", "RECUSE_BGP_ROUTER_ID=10.1.9.53",
			`RECUSE_BGP_ROUTER_ID: "10.1.9.53": is a service address (services[0].addresses[0]), which every node of the service has`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("test.yaml", []byte(minimal), []string{tt.variable})
			if err == nil || err.Error() != tt.want {
				t.Errorf("unexpected error:\n got %v\nwant %s", err, tt.want)
			}
		})
	}
}
