package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileWith writes a configuration with these BGP settings.
func fileWith(t *testing.T, bgp string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recuse.yaml")
	text := "bgp:\n  asn: 65011\n" + bgp + `services:
  - name: dns
    addresses: [192.0.2.53/32]
    checks:
      - {name: local-name, dns: {server: "127.0.0.1:53", name: "{random}.lan"}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPeeringAddress asks for a router's side where the file says, and does not
// say, which address the node has towards it.
func TestPeeringAddress(t *testing.T) {
	const (
		one = "    - {address: 198.51.100.1, asn: 65000}\n"
		two = "    - {address: 203.0.113.1, asn: 65000}\n"
		six = "    - {address: '2001:db8::1', asn: 65000}\n"
		id  = "  router_id: 198.51.100.11\n"
	)
	tests := []struct {
		name, bgp, peer string
		want            string // of the text
		fails           string // of the error
	}{
		{"the router-id is the address towards the first",
			id + "  peers:\n" + one, "", "198.51.100.11", ""},
		{"and not towards the second", id + "  peers:\n" + one + two, "",
			"", "bgp.peers[1].local_address: missing for peer 203.0.113.1"},
		{"the way out is named", id + "  peers:\n" + one + two, "",
			"", "--peer 198.51.100.1;"},
		{"which works", id + "  peers:\n" + one + two, "198.51.100.1",
			"198.51.100.11", ""},
		{"the second alone", id + "  peers:\n" + one + two, "203.0.113.1",
			"", "bgp.peers[1].local_address"},
		{"the first of IPv4, as the agent chooses it",
			id + "  peers:\n" + six + one, "198.51.100.1", "198.51.100.11", ""},
		{"never for IPv6", id + "  peers:\n" + six, "", "",
			"set it to this node's address on that session"},
		{"nothing is said", "  peers:\n" + one, "", "",
			"for the first IPv4 peer, bgp.router_id serves too"},
		{"all is said", id + "  peers:\n" + one + "    - {address: " +
			"203.0.113.1, asn: 65000, local_address: 203.0.113.11}\n",
			"203.0.113.1", "203.0.113.11", ""},
	}
	for _, tt := range tests {
		text, err := peering([]string{fileWith(t, tt.bgp)}, "frr", tt.peer)
		switch {
		case tt.fails == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.fails == "" && !strings.Contains(text, tt.want):
			t.Errorf("%s: no %s in:\n%s", tt.name, tt.want, text)
		case tt.fails != "" && (!errors.Is(err, errUsage) ||
			!strings.Contains(err.Error(), tt.fails)):
			t.Errorf("%s: unexpected error: %v", tt.name, err)
		}
	}
}
