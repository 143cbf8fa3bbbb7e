package load

import (
	"net/netip"
	"strings"
	"testing"
)

func TestRunRefuses(t *testing.T) {
	one := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"no rate", Config{Servers: one}, "rate 0: must be more than 0"},
		{"too high a rate", Config{Servers: one, Rate: 50_001}, "must be at most 50000"},
		{"nobody to ask", Config{Rate: 1}, "nobody to ask"},
		{"no port", Config{Rate: 1, Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}}, "servers[0]"},
		{"too many servers", Config{Rate: 1, Servers: make([]netip.AddrPort, 9)}, "9 of them"},
		{"no such transport", Config{Rate: 1, Servers: one, Transport: "doh"}, "must be one of udp, udp-one-port"},
		{"no such name", Config{Rate: 1, Servers: one, Mix: Mix{"a..b"}}, "mix[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Run(t.Context(), tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestHousehold shows which names repeat and which never do.
func TestHousehold(t *testing.T) {
	count := map[string]int{}
	mix, err := Household().entries()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 * len(mix) {
		e, n := pick(mix, 0, i)
		count[e.fill(n)]++
	}
	var fresh, lan, repeated int
	for name, n := range count {
		switch {
		case n > 1:
			repeated++
		case strings.HasSuffix(name, ".fresh.internet.example."):
			fresh++
		case strings.HasSuffix(name, ".lan."):
			lan++
		}
	}
	if repeated != 7 || fresh != 200 || lan != 100 {
		t.Errorf("%d names repeat, %d fresh, %d new of lan; want 7, 200, 100", repeated, fresh, lan)
	}
}
