package bgp

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
	"pgregory.net/rapid"
)

// drawPrefix is any masked prefix of a family.
func drawPrefix(t *rapid.T, inet6 bool) netip.Prefix {
	n := 4
	if inet6 {
		n = 16
	}
	raw := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "addr")
	addr, _ := netip.AddrFromSlice(raw)
	return netip.PrefixFrom(addr, rapid.IntRange(0, 8*n).Draw(t, "bits")).Masked()
}

// drawPrefixes are up to six of them, and the same for GoBGP.
func drawPrefixes(t *rapid.T, inet6 bool) ([]netip.Prefix, []bgp.PathNLRI) {
	var list []netip.Prefix
	var nlri []bgp.PathNLRI
	for range rapid.IntRange(0, 6).Draw(t, "n") {
		p := drawPrefix(t, inet6)
		n, err := bgp.NewIPAddrPrefix(p)
		if err != nil {
			t.Fatal(err)
		}
		list, nlri = append(list, p), append(nlri, bgp.PathNLRI{NLRI: n})
	}
	return list, nlri
}

// What GoBGP writes is read as it was meant.
func TestReadUpdate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out4, outNLRI := drawPrefixes(t, false)
		in4, inNLRI := drawPrefixes(t, false)
		out6, out6NLRI := drawPrefixes(t, true)
		in6, in6NLRI := drawPrefixes(t, true)
		var attrs []bgp.PathAttributeInterface
		if len(out6) > 0 {
			a, _ := bgp.NewPathAttributeMpUnreachNLRI(bgp.RF_IPv6_UC, out6NLRI)
			attrs = append(attrs, a)
		}
		if len(in6) > 0 {
			a, _ := bgp.NewPathAttributeMpReachNLRI(bgp.RF_IPv6_UC, in6NLRI, netip.MustParseAddr("2001:db8::1"))
			attrs = append(attrs, a)
		}
		long := make([]uint32, rapid.IntRange(0, 100).Draw(t, "communities")) // a long attribute has a longer length
		attrs = append(attrs, bgp.NewPathAttributeOrigin(0), bgp.NewPathAttributeCommunities(long))
		msg, err := bgp.NewBGPUpdateMessage(outNLRI, attrs, inNLRI).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		got, err := dialect{}.read(msg)
		if err != nil {
			t.Fatal(err)
		}
		if want := append(in6, in4...); !slices.Equal(want, bare(got.announced)) {
			t.Fatalf("announced %v, want %v", got.announced, want)
		}
		if want := append(out4, out6...); !slices.Equal(want, bare(got.withdrawn)) {
			t.Fatalf("withdrawn %v, want %v", got.withdrawn, want)
		}
	})
}

// bare are the prefixes alone.
func bare(list []nlri) []netip.Prefix {
	var out []netip.Prefix
	for _, n := range list {
		out = append(out, n.Prefix)
	}
	return out
}

func FuzzReadUpdate(f *testing.F) {
	for _, m := range hostile() {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range []dialect{{}, {narrow: true}, {pathID4: true, pathID6: true}} {
			r, _ := d.read(b)
			for _, p := range append(r.announced, r.withdrawn...) {
				if !p.IsValid() || p.Prefix != p.Masked() {
					t.Errorf("read %s", p)
				}
			}
			r.mark(65011)
		}
	})
}

func TestTally(t *testing.T) {
	prefix := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
	nlri := func(s string) []bgp.PathNLRI {
		n, _ := bgp.NewIPAddrPrefix(netip.MustParsePrefix(s))
		return []bgp.PathNLRI{{NLRI: n}}
	}
	up := func(s string) *bgp.BGPMessage { return bgp.NewBGPUpdateMessage(nil, nil, nlri(s)) }
	down := func(s string) *bgp.BGPMessage { return bgp.NewBGPUpdateMessage(nlri(s), nil, nil) }
	steps := []struct {
		name    string
		msg     *bgp.BGPMessage
		changed bool
		want    []netip.Prefix
	}{
		{"announced", up("10.1.9.53/32"), true, prefix("10.1.9.53/32")},
		{"changed", up("10.1.9.53/32"), false, prefix("10.1.9.53/32")},
		{"another", up("10.1.0.0/16"), true, append(prefix("10.1.0.0/16"), prefix("10.1.9.53/32")...)},
		{"withdrawn", down("10.1.9.53/32"), true, prefix("10.1.0.0/16")},
		{"withdrawn again", down("10.1.9.53/32"), false, prefix("10.1.0.0/16")},
		{"KEEPALIVE", bgp.NewBGPKeepAliveMessage(), false, prefix("10.1.0.0/16")},
	}
	got := make(tally)
	for _, s := range steps {
		b, err := s.msg.Serialize()
		if err != nil {
			t.Fatal(err)
		}
		r, _ := dialect{}.read(b) // the KEEPALIVE reads as nothing
		if changed := got.sent(r); changed != s.changed {
			t.Errorf("%s: changed = %t", s.name, changed)
		}
		if diff := cmp.Diff(s.want, got.prefixes(), compareAddrs); diff != "" {
			t.Errorf("%s: unexpected tally (-want +got):\n%s", s.name, diff)
		}
	}
}
