package bgp

import (
	"net/netip"
	"testing"
)

func TestMark(t *testing.T) {
	tests := []struct {
		name        string
		asn         uint32
		id          string
		depreferred bool
		want        string
	}{
		{"full", 65011, "10.1.1.11", false, "65011:167837963:1937001"},
		{"depreferred", 65011, "10.1.1.11", true, "65011:167837963:1937002"},
		{"largest", 4294967295, "255.255.255.255", false, "4294967295:4294967295:1937001"},
		{"IPv4 in IPv6", 1, "::ffff:0.0.0.1", false, "1:1:1937001"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Mark(tt.asn, netip.MustParseAddr(tt.id), tt.depreferred)
			if got != tt.want {
				t.Errorf("Mark = %s, want %s", got, tt.want)
			}
			if err := ParseCommunity(got); err != nil {
				t.Errorf("the mark is no community: %v", err)
			}
		})
	}
	if got, want := Mark(7, netip.Addr{}, false), "7:0:1937001"; got != want {
		t.Errorf("Mark without identifier = %s, want %s", got, want)
	}
}

func TestParseCommunity(t *testing.T) {
	tests := []struct{ in, want string }{
		{"65000:53", ""},
		{"0:0", ""},
		{"65535:65535", ""},
		{"65000:1:2", ""},
		{"4294967295:4294967295:4294967295", ""},
		{"", `"": must be two numbers (65000:53) or three (65000:1:2)`},
		{"65000", `"65000": must be two numbers (65000:53) or three (65000:1:2)`},
		{"1:2:3:4", `"1:2:3:4": must be two numbers (65000:53) or three (65000:1:2)`},
		{"65536:1", `"65536:1": "65536" must be 0 to 65535`},
		{"1:65536", `"1:65536": "65536" must be 0 to 65535`},
		{"1:4294967296:3", `"1:4294967296:3": "4294967296" must be 0 to 4294967295`},
		{"-1:1", `"-1:1": "-1" must be 0 to 65535`},
		{"a:b", `"a:b": "a" must be 0 to 65535`},
		{" 1:2", `" 1:2": " 1" must be 0 to 65535`},
		{"1:", `"1:": "" must be 0 to 65535`},
	}
	for _, tt := range tests {
		got := ""
		if err := ParseCommunity(tt.in); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("ParseCommunity(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
