package topology

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unmapped keys a table by text, for cmp.
func unmapped(m map[netip.Addr]string) map[string]string {
	texts := map[string]string{}
	for a, s := range m {
		texts[a.String()] = s
	}
	return texts
}

func TestReadBFD(t *testing.T) {
	tests := []struct {
		name, out string
		read      func(string) (map[netip.Addr]string, error)
		want      map[string]string
		fails     bool
	}{
		{"frr", `[{"multihop":false,"peer":"10.60.0.11","local":"10.60.0.1","status":"up"},` +
			`{"peer":"2001:db8:60::12","status":"down"},{"peer":"10.60.0.13","status":"shutdown"}]`, frrBFD,
			map[string]string{"10.60.0.11": "up", "2001:db8:60::12": "down", "10.60.0.13": "shutdown"}, false},
		{"frr without sessions", "[]", frrBFD, map[string]string{}, false},
		{"frr without bfdd", "bfdd is not running\n", frrBFD, map[string]string{}, true},
		{"bird", "BIRD 2.0.12 ready.\nRECUSE_BFD:\n" +
			"IP address                Interface  State      Since         Interval  Timeout\n" +
			"10.60.0.11                lan0       Up         22:05:11.120    0.300    0.900\n" +
			"2001:db8:60::12           ---        Down       22:05:10.112    1.000    0.000\n", birdBFD,
			map[string]string{"10.60.0.11": "up", "2001:db8:60::12": "down"}, false},
		{"bird without bfd", "BIRD 2.0.12 ready.\nThere is no BFD protocol running\n", birdBFD,
			map[string]string{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.read(tt.out)
			if (err != nil) != tt.fails {
				t.Errorf("error %v, want one: %v", err, tt.fails)
			}
			if d := cmp.Diff(tt.want, unmapped(got)); d != "" {
				t.Errorf("unexpected states (-want +got):\n%s", d)
			}
		})
	}
}
