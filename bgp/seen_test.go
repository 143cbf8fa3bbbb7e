package bgp

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// path is an AS_PATH of one sequence; none is an empty path.
func path(list ...uint32) []byte {
	if len(list) == 0 {
		return attr(0x40, attrASPath)
	}
	b := []byte{segmentSequence, byte(len(list))}
	for _, a := range list {
		b = binary.BigEndian.AppendUint32(b, a)
	}
	return attr(0x40, attrASPath, b...)
}

// largeAttr is a LARGE_COMMUNITY.
func largeAttr(list ...large) []byte {
	var b []byte
	for _, l := range list {
		for _, n := range l {
			b = binary.BigEndian.AppendUint32(b, n)
		}
	}
	return attr(0xc0, attrLarge, b...)
}

// Which marks count, by the origin of the route.
func TestReadMark(t *testing.T) {
	const asn, ours = 65012, 65011
	id := netip.MustParseAddr("10.1.1.12")
	full, second := mark(asn, id, false), mark(asn, id, true)
	own := mark(ours, id, false)
	other := large{65000, 1, 2}
	tests := []struct {
		name string
		msg  []byte
		want marked
		ok   bool
	}{
		{"announced", update(origin, path(65000, asn), largeAttr(full)), marked{id, false}, true},
		{"depreferred", update(path(65000, asn, asn, asn), largeAttr(other, second)), marked{id, true}, true},
		{"before the path", update(largeAttr(full), path(65000, asn)), marked{id, false}, true},
		{"no path is our AS", update(path(), largeAttr(own)), marked{id, false}, true},
		{"not from its AS", update(path(65000, 65099), largeAttr(full)), marked{}, false},
		{"from behind its AS", update(path(65000, asn, 65099), largeAttr(full)), marked{}, false},
		{"no path, another AS", update(path(), largeAttr(full)), marked{}, false},
		{"path missing", update(largeAttr(mark(0, id, false))), marked{}, false},
		{"ends in a set", update(attr(0x40, attrASPath, 2, 1, 0, 0, 0xfd, 0xf4, 1, 1, 0, 0, 0xfd, 0xf4), largeAttr(full)), marked{}, false},
		{"two segments", update(attr(0x40, attrASPath, 2, 1, 0, 0, 0xfd, 0xe8, 2, 1, 0, 0, 0xfd, 0xf4), largeAttr(full)), marked{id, false}, true},
		{"confederation", update(attr(0x40, attrASPath, 3, 1, 0, 0, 0xfd, 0xf4), largeAttr(full)), marked{id, false}, true},
		{"stripped", update(path(65000, asn)), marked{}, false},
		{"other large communities", update(path(65000, asn), largeAttr(other, large{asn, 1, 1937003})), marked{}, false},
		{"the first counts", update(path(asn), largeAttr(second, full)), marked{id, true}, true},
	}
	for _, tt := range tests {
		r, err := dialect{}.read(tt.msg)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got, ok := r.mark(ours); got != tt.want || ok != tt.ok {
			t.Errorf("%s: mark = %v, %t, want %v, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// A router of two bytes writes AS_TRANS and the real AS beside it.
func TestReadMarkTwoBytes(t *testing.T) {
	id := netip.MustParseAddr("10.1.1.12")
	four := attr(0xc0, attrAS4Path, path(65000, 4200000012)[3:]...)
	tests := map[string]struct {
		asn uint32
		msg []byte
	}{
		"AS of two bytes":  {65012, update(attr(0x40, attrASPath, 2, 2, 0xfd, 0xe8, 0xfd, 0xf4), largeAttr(mark(65012, id, false)))},
		"AS of four bytes": {4200000012, update(attr(0x40, attrASPath, 2, 2, 0xfd, 0xe8, 0x5b, 0xa0), four, largeAttr(mark(4200000012, id, false)))},
	}
	for name, tt := range tests {
		r, err := dialect{narrow: true}.read(tt.msg)
		if err != nil || r.origin.asn != tt.asn {
			t.Errorf("%s: origin %d, %v", name, r.origin.asn, err)
		}
		if got, ok := r.mark(65011); !ok || got.node != id {
			t.Errorf("%s: mark = %v, %t", name, got, ok)
		}
	}
}

// withdrawn is an UPDATE that takes back update's prefix.
var withdrawn = message(typeUpdate, []byte{0, 4, 24, 198, 51, 100, 0, 0})

func TestView(t *testing.T) {
	prefix := netip.MustParsePrefix("198.51.100.0/24")
	one, two := netip.MustParseAddr("10.1.1.12"), netip.MustParseAddr("10.1.1.13")
	from := func(id netip.Addr, second bool) []byte {
		return update(path(65000, 65012), largeAttr(mark(65012, id, second)))
	}
	ours := update(path(65000, 65011), largeAttr(mark(65011, netip.MustParseAddr("10.1.1.11"), false)))
	cut := update(path(65000, 65012), largeAttr(mark(65012, one, false)), []byte{0xc0, 8, 200})
	torn := message(typeUpdate, []byte{0, 4, 24, 198, 51, 100, 0, 3, 0xc0, 8, 200})
	steps := []struct {
		name            string
		msg             []byte
		changed, marked bool
		want            []Seen
		gone            bool
	}{
		{"withdrawn before it came", withdrawn, false, false, nil, false},
		{"a second choice is nothing to lose", from(one, true), true, true, []Seen{{prefix, one, true}}, false},
		{"another node", from(one, false), true, true, []Seen{{prefix, one, false}}, false},
		{"again", from(one, false), false, true, []Seen{{prefix, one, false}}, false},
		{"depreferred", from(one, true), true, true, []Seen{{prefix, one, true}}, true},
		{"replaced by the next", from(two, false), true, true, []Seen{{prefix, two, false}}, false},
		{"replaced by ours", ours, true, true, nil, true},
		{"back", from(two, false), true, true, []Seen{{prefix, two, false}}, false},
		{"replaced by a stranger", update(path(65000, 65077)), true, false, nil, true},
		{"back again", from(two, false), true, true, []Seen{{prefix, two, false}}, false},
		{"withdrawn", withdrawn, true, false, nil, true},
		{"withdrawn again", withdrawn, false, false, nil, true},
		{"once more", from(two, false), true, true, []Seen{{prefix, two, false}}, false},
		{"a malformed one", cut, false, false, []Seen{{prefix, two, false}}, false},
		{"a malformed withdrawal is no word", torn, true, false, nil, false},
	}
	v := newView(node{65011, netip.MustParseAddr("10.1.1.11")})
	for _, s := range steps {
		r, err := dialect{}.read(s.msg)
		changed, marked := v.received(r, err != nil)
		if changed != s.changed || marked != s.marked {
			t.Errorf("%s: changed %t, marked %t", s.name, changed, marked)
		}
		if diff := cmp.Diff(s.want, v.seen(), compareAddrs); diff != "" {
			t.Errorf("%s: unexpected view (-want +got):\n%s", s.name, diff)
		}
		if got := len(v.gone()) == 1; got != s.gone {
			t.Errorf("%s: gone = %v", s.name, v.gone())
		}
	}
}

// With identifiers the paths of all nodes stand beside each other, and a node
// is as good as its best path.
func TestViewOfSeveralPaths(t *testing.T) {
	prefix := netip.MustParsePrefix("10.1.9.53/32")
	one, two := netip.MustParseAddr("10.1.1.12"), netip.MustParseAddr("10.1.1.13")
	v := newView(node{65011, netip.MustParseAddr("10.1.1.11")})
	say := func(id uint32, n netip.Addr, second bool) {
		v.received(reading{announced: []nlri{{prefix, id}}, origin: originAS{asn: 65012},
			larges: []large{mark(65012, n, second)}}, false)
	}
	expect := func(what string, want ...Seen) {
		t.Helper()
		if diff := cmp.Diff(want, v.seen(), compareAddrs); diff != "" {
			t.Errorf("%s: unexpected view (-want +got):\n%s", what, diff)
		}
	}
	say(1, two, false)
	say(2, one, true)
	say(3, one, false)
	expect("three paths", Seen{prefix, one, false}, Seen{prefix, two, false})
	v.received(reading{withdrawn: []nlri{{prefix, 3}}}, false)
	expect("the better path gone", Seen{prefix, one, true}, Seen{prefix, two, false})
	v.received(reading{withdrawn: []nlri{{prefix, 1}, {prefix, 9}}}, false)
	expect("one node gone", Seen{prefix, one, true})
}

// Identifiers stand before each prefix of the families that have them only.
func TestReadPathIDs(t *testing.T) {
	d := dialect{pathID4: true}
	msg := message(typeUpdate, []byte{0, 9, 0, 0, 0, 7, 32, 10, 1, 9, 53, 0, 0, 0, 0, 0, 8, 24, 10, 1, 9})
	r, err := d.read(msg)
	want := reading{withdrawn: []nlri{{netip.MustParsePrefix("10.1.9.53/32"), 7}},
		announced: []nlri{{netip.MustParsePrefix("10.1.9.0/24"), 8}}}
	if err != nil || !slices.Equal(want.withdrawn, r.withdrawn) || !slices.Equal(want.announced, r.announced) {
		t.Errorf("read %+v, %v", r, err)
	}
	six := update(attr(0x80, attrUnreach, 0, 2, 1, 16, 0x20, 1))
	if r, err := d.read(six[:len(six)-4]); err != nil || len(r.withdrawn) != 1 || r.withdrawn[0].id != 0 {
		t.Errorf("read %+v, %v", r, err)
	}
	if _, err := d.read(message(typeUpdate, []byte{0, 0, 0, 0, 0, 0, 0, 8})); err == nil {
		t.Error("an identifier without a prefix has no error")
	}
}

func TestEndOfRIB(t *testing.T) {
	end4 := message(typeUpdate, []byte{0, 0, 0, 0})
	end6 := message(typeUpdate, []byte{0, 0, 0, 6, 0x80, attrUnreach, 3, 0, 2, 1})
	end4mp := message(typeUpdate, []byte{0, 0, 0, 6, 0x80, attrUnreach, 3, 0, 1, 1})
	vpn := message(typeUpdate, []byte{0, 0, 0, 6, 0x80, attrUnreach, 3, 0, 1, 128})
	both := open{v4: true, v6: true}
	tests := []struct {
		name string
		open open
		msgs [][]byte
		want bool
	}{
		{"both", both, [][]byte{end6, end4}, true},
		{"both by MP_UNREACH", both, [][]byte{end4mp, end6}, true},
		{"one is missing", both, [][]byte{end4, end4}, false},
		{"IPv4 only", open{v4: true}, [][]byte{end4}, true},
		{"IPv6 only", open{v6: true}, [][]byte{end6}, true},
		{"another family", both, [][]byte{end4, vpn}, false},
		{"a withdrawal", open{v4: true}, [][]byte{withdrawn}, false},
		{"nothing", both, nil, false},
	}
	for _, tt := range tests {
		v := newView(node{})
		for _, m := range tt.msgs {
			r, err := dialect{}.read(m)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			v.received(r, err != nil)
		}
		if got := v.ended(tt.open); got != tt.want {
			t.Errorf("%s: ended = %t", tt.name, got)
		}
	}
}

func TestMoreRIB(t *testing.T) {
	up := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return up.Add(d) }
	tests := []struct {
		name      string
		last, now time.Time
		want      time.Duration
	}{
		{"just up", time.Time{}, up, quietRIB},
		{"silent", time.Time{}, at(quietRIB), 0},
		{"what came before Established does not count", at(-time.Second), at(quietRIB), 0},
		{"still sending", at(2 * time.Second), at(3 * time.Second), 2 * time.Second},
		{"done", at(2 * time.Second), at(6 * time.Second), 0},
		{"never silent", at(14 * time.Second), at(14 * time.Second), time.Second},
		{"never silent, believed", at(15 * time.Second), at(15 * time.Second), 0},
	}
	for _, tt := range tests {
		if got := moreRIB(up, tt.last, tt.now); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Whatever a router sends, a view stays bounded.
func TestViewBounds(t *testing.T) {
	v := newView(node{asn: 65011, id: netip.MustParseAddr("10.1.1.11")})
	say := func(p netip.Prefix, i uint32) {
		v.received(reading{announced: []nlri{{p, i}},
			origin: originAS{asn: 65012}, larges: []large{{65012, i, markFull}}}, false)
	}
	for i := range uint32(maxSeen + 10) {
		say(netip.MustParsePrefix("10.1.9.53/32"), i)
	}
	if len(v.routes) != maxSeen {
		t.Errorf("%d routes", len(v.routes))
	}
	v = newView(v.self)
	for i := range uint32(maxSeen + 10) {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 2, byte(i >> 8), byte(i)}), 32)
		say(p, 0)
		v.received(reading{withdrawn: []nlri{{p, 0}}}, false)
	}
	if got := len(v.gone()); got != maxSeen {
		t.Errorf("%d prefixes gone", got)
	}
}

// What a router sends without a mark counts where it leads to a prefix that it
// has from us.
func TestViewUnmarked(t *testing.T) {
	id := netip.MustParseAddr("10.1.1.12")
	bare := update(path(65000, 65077))
	v := newView(node{65011, netip.MustParseAddr("10.1.1.11")})
	ours := tally{netip.MustParsePrefix("198.51.100.0/24"): {}}
	for _, s := range []struct {
		name string
		msg  []byte
		want bool
	}{
		{"with a mark", update(path(65000, 65012), largeAttr(mark(65012, id, false))), false},
		{"without", bare, true},
		{"withdrawn", withdrawn, false},
		{"without again", bare, true},
		{"with a mark of ours", update(path(65000, 65011), largeAttr(mark(65011, v.self.id, false))), false},
	} {
		r, err := dialect{}.read(s.msg)
		v.received(r, err != nil)
		if got := v.unmarked(ours); got != s.want {
			t.Errorf("%s: unmarked %t", s.name, got)
		}
		if v.unmarked(tally{}) {
			t.Errorf("%s: of what it does not have from us", s.name)
		}
	}
}
