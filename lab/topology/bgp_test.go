package topology

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBGP(t *testing.T) {
	node, other := netip.MustParseAddr("10.60.0.11"), netip.MustParseAddr("2001:db8:60::12")
	tests := []struct {
		name string
		read func(string) (map[netip.Addr]string, error)
		out  string
		want map[netip.Addr]string
	}{
		{"FRR", frrBGP, `{"ipv4Unicast":{"as":65000,"peers":{"10.60.0.11":{"state":"Established"}}},
			"ipv6Unicast":{"peers":{"10.60.0.11":{"state":"Established"},"2001:db8:60::12":{"state":"Active"}}}}`,
			map[netip.Addr]string{node: "established", other: "active"}},
		{"FRR without sessions", frrBGP, `{"warning":"Default BGP instance not found"}`, map[netip.Addr]string{}},
		{"BIRD", birdBGP, "BIRD 2.0.12 ready.\nName       Proto\nn1         BGP        ---        up     06:00:00  Established\n" +
			"  BGP state:          Established\n    Neighbor address: 10.60.0.11\n    Neighbor AS:      65011\n" +
			"  BGP state:          Idle\n    Neighbor address: 2001:db8:60::12\n",
			map[netip.Addr]string{node: "established", other: "idle"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.read(tt.out)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateComparable(netip.Addr{})); d != "" {
				t.Errorf("unexpected sessions (-want +got):\n%s", d)
			}
		})
	}
}
