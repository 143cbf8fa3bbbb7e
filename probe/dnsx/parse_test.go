package dnsx

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/probe"
)

// TestParseServer proves the spellings of a server and that String's is one.
func TestParseServer(t *testing.T) {
	tests := []struct{ text, want string }{
		{"127.0.0.1", "udp://127.0.0.1:53"},
		{"127.0.0.1:5353", "udp://127.0.0.1:5353"},
		{"udp://10.1.1.1", "udp://10.1.1.1:53"},
		{"tcp://[::1]:53", "tcp://[::1]:53"},
		{"tcp://[::1]", "tcp://[::1]:53"},
		{"tcp://::1/", "tcp://[::1]:53"},
		{"2001:db8::53", "udp://[2001:db8::53]:53"},
		{"fe80::1%eth0", "udp://[fe80::1%eth0]:53"},
		{"[fe80::1%eth0]:54", "udp://[fe80::1%eth0]:54"},
		{"::ffff:10.1.1.1", "udp://10.1.1.1:53"},
		{"tls://10.1.1.1", "tls://10.1.1.1:853"},
		{"tls://::1/", "tls://[::1]:853"},
		{"tls://[::1]:8853", "tls://[::1]:8853"},
		{"https://10.1.1.1", "https://10.1.1.1:443/dns-query"},
		{"https://10.1.1.1/", "https://10.1.1.1:443/"},
		{"https://[::1]:8443/q/", "https://[::1]:8443/q/"},
		{"https://::1/dns-query{?dns}", "https://[::1]:443/dns-query"},
	}
	for _, tt := range tests {
		for _, text := range []string{tt.text, tt.want} {
			if got, err := ParseServer(text); err != nil || got.String() != tt.want {
				t.Errorf("%q: got %v, error %v, want %v", text, got, err, tt.want)
			}
		}
	}
}

// TestParseErrors proves what the errors of all the readers say.
func TestParseErrors(t *testing.T) {
	const (
		address = "not an IP address, names are not looked up; write one such as 127.0.0.1:53 or [::1]:53"
		port    = "the port is not a number from 1 to 65535, leave it out for 53"
		single  = "no single server has this address, use the one it listens on, such as 127.0.0.1"
		scope   = "a link-local address, and no other, needs its link, such as fe80::1%eth0"
		named   = "not an IP address, names are not looked up; write the server's address, such as %s://127.0.0.1, and its name as server_name"
		path    = "the path must be one such as /dns-query, without ? or #"
		typ     = "not a type that a check can ask for, use one such as A, AAAA, TXT, SOA or NS"
		code    = "not an answer code, use names such as NOERROR, NXDOMAIN or SERVFAIL"
	)
	server := func(s string) error { _, err := ParseServer(s); return err }
	qtype := func(s string) error { _, err := ParseType(s); return err }
	rcode := func(s string) error { _, err := ParseRcode(s); return err }
	tests := []struct {
		parse      func(string) error
		text, want string
	}{
		{server, "", address},
		{server, "localhost:53", address},
		{server, "10.1.1", address},
		{server, "[10.1.1.1", address},
		{server, "10.1.1.1]:53", address},
		{server, "10.1.1.1:0", port},
		{server, "10.1.1.1:65536", port},
		{server, "10.1.1.1:", port},
		{server, "[::1]:dns", port},
		{server, "0.0.0.0:53", single},
		{server, "::", single},
		{server, "224.0.0.1", single},
		{server, "fe80::1", scope},
		{server, "[2001:db8::1%eth0]:53", scope},
		{server, "tls://dns.example", fmt.Sprintf(named, "tls")},
		{server, "https://dns.example/dns-query", fmt.Sprintf(named, "https")},
		{server, "https://", fmt.Sprintf(named, "https")},
		{server, "https://10.1.1.1@10.1.1.2/", fmt.Sprintf(named, "https")},
		{server, "https://10.1.1.1/dns-query?dns=", path},
		{server, "https://10.1.1.1/dns-query#top", path},
		{server, "https://10.1.1.1/dns query", path},
		{server, "https://10.1.1.1:0/", "the port is not a number from 1 to 65535, leave it out for 443"},
		{server, "tls://10.1.1.1:x", "the port is not a number from 1 to 65535, leave it out for 853"},
		{server, "tls://0.0.0.0", single},
		{server, "quic://10.1.1.1", "unknown scheme quic://, use udp://, tcp://, tls:// or https://"},
		{qtype, "", typ},
		{qtype, "B", typ},
		{qtype, "AXFR", typ},
		{qtype, "OPT", typ},
		{qtype, "TYPE65536", typ},
		{qtype, "TYPE41", typ},
		{rcode, "", code},
		{rcode, "NO", code},
	}
	for _, tt := range tests {
		if err := tt.parse(tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestSameServer proves that a link is one by its name and by its number.
func TestSameServer(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	number := strconv.Itoa(lo.Index)
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"10.1.1.1:53", "10.1.1.1:53", true},
		{"10.1.1.1:53", "10.1.1.1:54", false},
		{"[fe80::1%lo]:53", "[fe80::1%" + number + "]:53", true},
		{"[fe80::1%lo]:53", "[fe80::1%" + number + "]:54", false},
		{"[fe80::1%lo]:53", "[fe80::2%lo]:53", false},
		{"[fe80::1%lo]:53", "[fe80::1%nowhere]:53", false},
	} {
		if got := sameServer(netip.MustParseAddrPort(tt.a), netip.MustParseAddrPort(tt.b)); got != tt.want {
			t.Errorf("%s and %s: %t", tt.a, tt.b, got)
		}
	}
}

// TestParseNames proves that types and codes read in any case of letters.
func TestParseNames(t *testing.T) {
	for text, want := range map[string]uint16{"A": 1, "aaaa": 28, "TXT": 16, "ANY": 255, "type65280": 65280} {
		if got, err := ParseType(text); err != nil || got != want {
			t.Errorf("%q: got %d, error %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]int{"NOERROR": 0, "nxdomain": 3, "REFUSED": 5} {
		if got, err := ParseRcode(text); err != nil || got != want {
			t.Errorf("%q: got %d, error %v, want %d", text, got, err, want)
		}
	}
}

// TestNewDefaults proves what is filled in, and that the caller's list is not
// shared.
func TestNewDefaults(t *testing.T) {
	tests := []struct {
		name string
		give Config
		want Config
	}{
		{"a name", Config{Name: "{random}.lan"},
			Config{Name: "{random}.lan", Type: dns.TypeA, Rcodes: []int{dns.RcodeSuccess, dns.RcodeNameError}}},
		{"an answer", Config{Name: "nas.lan", Answer: "10.1.1.1"},
			Config{Name: "nas.lan", Answer: "10.1.1.1", Type: dns.TypeA, Rcodes: []int{dns.RcodeSuccess}}},
		{"a zone", Config{Name: "nas.lan", SOA: "LAN", Type: dns.TypeTXT, Rcodes: []int{3}},
			Config{Name: "nas.lan", SOA: "lan.", Type: dns.TypeTXT, Rcodes: []int{3}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.give.Server, tt.want.Server = loopback, loopback
			p := prober(t, tt.give)
			if diff := cmp.Diff(tt.want, p.config, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
				cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
				t.Errorf("unexpected settings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewErrors proves that a question that cannot be asked is refused.
func TestNewErrors(t *testing.T) {
	long := strings.Repeat("a", 60)
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"transport", Config{Name: "a", Server: Server{Net: "quic", Addr: loopback.Addr}}, `server: unknown transport "quic", use udp, tcp, tls or https`},
		{"pin", Config{Name: "a", Server: Server{Net: "tls", Addr: loopback.Addr}, Trust: probe.Trust{Pins: []string{"x"}}},
			`pin: "x": not a pin, which is the SHA-256 of the server's public key in base64, 44 characters`},
		{"address", Config{Name: "a", Server: Server{Net: "udp"}}, `server: "invalid AddrPort" is not an address with a port`},
		{"family", Config{Name: "a", Server: loopback, Local: netip.IPv6Loopback()},
			"source ::1 and server 127.0.0.1:53 are not of one address family"},
		{"no name", Config{Server: loopback}, `name: "": empty name, write one such as "{random}.lan"`},
		{"braces", Config{Server: loopback, Name: "{rand}.lan"}, `name: "{rand}.lan": the only part in braces that a name may have is {random}`},
		{"a space", Config{Server: loopback, Name: "a b.lan"},
			`name: "a b.lan": no spaces and control characters, write such a byte as its three decimal digits after a \`},
		{"an open escape", Config{Server: loopback, Name: `a.lan\`},
			`name: "a.lan\\": not a domain name: labels are 1 to 63 characters, the whole at most 253`},
		{"dots", Config{Server: loopback, Name: "a..lan"},
			`name: "a..lan": not a domain name: labels are 1 to 63 characters, the whole at most 253`},
		{"too long a label", Config{Server: loopback, Name: long + "{random}.lan"},
			`name: "` + long + `{random}.lan": not a domain name: labels are 1 to 63 characters, the whole at most 253`},
		{"zone", Config{Server: loopback, Name: "a.lan", SOA: "a..lan"}, `soa: "a..lan": not a zone's name, write one such as lan`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.config); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
