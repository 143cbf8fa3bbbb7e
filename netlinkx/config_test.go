package netlinkx

import (
	"net/netip"
	"strings"
	"testing"
)

// prefixes parses prefixes, and takes what is none as the zero value.
func prefixes(all ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, s := range all {
		p, _ := netip.ParsePrefix(s)
		list = append(list, p)
	}
	return list
}

// testConfig is a valid configuration.
func testConfig() Config {
	return Config{Service: "dns", Link: "anycast0", Kind: KindDummy,
		Addresses: prefixes("192.0.2.53/32", "2001:db8::53/128")}
}

func TestValidate(t *testing.T) {
	long := strings.Repeat("x", 201)
	tests := []struct {
		name string
		edit func(c *Config)
		want string // all of the error, "" for none
	}{
		{"valid", func(c *Config) {}, ""},
		{"existing lo", func(c *Config) { c.Link, c.Kind = "lo", KindExisting }, ""},
		{"longest names", func(c *Config) { c.Service, c.Link = long[:200], long[:15] }, ""},
		{"no service", func(c *Config) { c.Service = "" }, `service name "": must have 1 to 200 bytes`},
		{"long service", func(c *Config) { c.Service = long },
			`service name "` + long + `": must have 1 to 200 bytes`},
		{"control character", func(c *Config) { c.Service = "a\nb" },
			`service name "a\nb": must not contain control characters`},
		{"no link", func(c *Config) { c.Link = "" }, `link name "": must have 1 to 15 bytes`},
		{"long link", func(c *Config) { c.Link = long[:16] },
			`link name "` + long[:16] + `": must have 1 to 15 bytes`},
		{"link with slash", func(c *Config) { c.Link = "a/b" },
			`link name "a/b": must not contain '/', ':', '%' or spaces`},
		{"template link", func(c *Config) { c.Link = "dummy%d" },
			`link name "dummy%d": must not contain '/', ':', '%' or spaces`},
		{"dot link", func(c *Config) { c.Link = ".." },
			`link name "..": must not contain '/', ':', '%' or spaces`},
		{"kind", func(c *Config) { c.Kind = "veth" },
			`link kind "veth": must be dummy, ifb, bridge or existing`},
		{"made lo", func(c *Config) { c.Link = "lo" }, `link "lo": exists on every box; set kind: existing`},
		{"no address", func(c *Config) { c.Addresses = nil }, "no service address"},
		{"two at once", func(c *Config) { c.Service, c.Addresses = "", nil },
			"service name \"\": must have 1 to 200 bytes\nno service address"},
		{"subnet", func(c *Config) { c.Addresses = prefixes("192.0.2.0/24") },
			"service address 192.0.2.0/24: must be a host route, /32 or /128"},
		{"twice", func(c *Config) { c.Addresses = append(c.Addresses, c.Addresses[0]) },
			"service address 192.0.2.53/32: given twice"},
		{"zero", func(c *Config) { c.Addresses = prefixes("") },
			"service address invalid Prefix: not an IPv4 or IPv6 address"},
		{"mapped", func(c *Config) { c.Addresses = prefixes("::ffff:192.0.2.53/128") },
			"service address ::ffff:192.0.2.53/128: not an IPv4 or IPv6 address"},
		{"multicast", func(c *Config) { c.Addresses = prefixes("ff02::1/128") },
			"service address ff02::1/128: must be a routable unicast address"},
		{"link-local", func(c *Config) { c.Addresses = prefixes("169.254.0.1/32") },
			"service address 169.254.0.1/32: must be a routable unicast address"},
		{"unspecified", func(c *Config) { c.Addresses = prefixes("0.0.0.0/32") },
			"service address 0.0.0.0/32: must be a routable unicast address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := testConfig()
			tt.edit(&c)
			got := ""
			if err := c.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("unexpected error:\n got %s\nwant %s", got, tt.want)
			}
			if _, err := On(c, nil); (err == nil) != (tt.want == "") {
				t.Errorf("On: unexpected error: %v", err)
			}
		})
	}
}

func TestHardware(t *testing.T) {
	dns, web := testConfig(), testConfig()
	web.Service = "web"
	if dns.hardware() == web.hardware() {
		t.Errorf("two services have one hardware address, %s", dns.hardware())
	}
	// It must not change between versions, or a half made link is not known.
	if got, want := dns.hardware(), "02:23:de:92:ce:34"; got != want {
		t.Errorf("unexpected hardware address: got %s, want %s", got, want)
	}
}
