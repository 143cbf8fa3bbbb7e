package bgp

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHeader(t *testing.T) {
	good := message(typeKeepalive, nil)
	unmarked := bytes.Clone(good)
	unmarked[15] = 0
	tests := []struct {
		name   string
		in     []byte
		length int
		bad    bool
	}{
		{"KEEPALIVE", good, 19, false},
		{"with body", message(typeUpdate, make([]byte, 100)), 119, false},
		{"longest", withLength(good, 65535), 65535, false},
		{"too short to be one", good[:18], 0, true},
		{"length 18", withLength(good, 18), 0, true},
		{"no marker", unmarked, 0, true},
	}
	for _, tt := range tests {
		length, _, err := header(tt.in)
		if length != tt.length || (err != nil) != tt.bad {
			t.Errorf("%s: header = %d, %v", tt.name, length, err)
		}
	}
}

func TestParseOpen(t *testing.T) {
	body := func(params ...byte) []byte {
		b := []byte{4, 0xfd, 0xe8, 0, 9, 192, 0, 2, 1}
		return message(typeOpen, append(append(b, byte(len(params))), params...))
	}
	plain := open{asn: 65000, hold: 9 * time.Second, routerID: netip.MustParseAddr("192.0.2.1"), v4: true}
	with := func(f func(*open)) open {
		o := plain
		f(&o)
		return o
	}
	wide := []byte{4, 0xfd, 0xe8, 0, 9, 192, 0, 2, 1, 255, 255, 0, 9, 2, 0, 6, 1, 4, 0, 2, 0, 1}
	tests := []struct {
		name string
		msg  []byte
		want open
		ok   bool
	}{
		{"no parameters", body(), plain, true},
		{"4-byte AS", body(2, 6, 65, 4, 0, 1, 0, 0), with(func(o *open) { o.asn, o.fourOctet = 65536, true }), true},
		{"several paths offered", body(2, 10, 69, 8, 0, 1, 1, 2, 0, 2, 1, 3), with(func(o *open) { o.pathID4, o.pathID6 = true, true }), true},
		{"several paths wanted only", body(2, 10, 69, 8, 0, 1, 1, 1, 0, 2, 1, 1), plain, true},
		{"several paths of VPN", body(2, 6, 69, 4, 0, 1, 128, 3), plain, true},
		{"IPv6 only", body(2, 6, 1, 4, 0, 2, 0, 1), with(func(o *open) { o.v4, o.v6, o.multi = false, true, true }), true},
		{"two parameters", body(2, 6, 1, 4, 0, 1, 0, 1, 2, 6, 1, 4, 0, 2, 0, 1), with(func(o *open) { o.v6, o.multi = true, true }), true},
		{"multicast is not unicast", body(2, 6, 1, 4, 0, 1, 0, 2), with(func(o *open) { o.v4, o.multi = false, true }), true},
		{"extended next hop", body(2, 8, 5, 6, 0, 1, 0, 1, 0, 2), with(func(o *open) { o.extendedHop = true }), true},
		{"extended next hop for VPN", body(2, 8, 5, 6, 0, 1, 0, 128, 0, 2), plain, true},
		{"long parameters", message(typeOpen, wide), with(func(o *open) { o.v4, o.v6, o.multi = false, true, true }), true},
		{"unknown parameter", body(1, 2, 0, 0), plain, true},
		{"lying capability", body(2, 2, 65, 4), plain, true},
		{"lying parameter", body(2, 200, 65, 4), plain, true},
		{"cut short", message(typeOpen, []byte{4, 0xfd}), open{}, false},
		{"no OPEN", message(typeUpdate, make([]byte, 20)), open{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := parseOpen(tt.msg)
			if got != tt.want || ok != tt.ok {
				t.Errorf("parseOpen = %+v, %t, want %+v, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func FuzzParseOpen(f *testing.F) {
	f.Add(rawOpen(65000, "192.0.2.1", true))
	for _, m := range hostile() {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, ok := parseOpen(b); ok && !o.routerID.Is4() {
			t.Errorf("identifier %s", o.routerID)
		}
		if n, ok := parseNotification(b); ok {
			_ = n.String()
		}
	})
}

// However a stream is cut, a tap sees the same messages; after junk it sees no
// more.
func TestTap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [][]byte
		for range rapid.IntRange(0, 6).Draw(t, "messages") {
			body := rapid.SliceOfN(rapid.Byte(), 0, 6000).Draw(t, "body")
			want = append(want, message(rapid.Byte().Draw(t, "type"), body))
		}
		stream := bytes.Join(want, nil)
		junk := rapid.Bool().Draw(t, "junk")
		if junk {
			stream = append(stream, bytes.Repeat([]byte{7}, 40)...)
			stream = append(stream, message(typeKeepalive, nil)...)
		}
		var got [][]byte
		tp := &tap{see: func(m []byte) { got = append(got, bytes.Clone(m)) }}
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "chunk")
			tp.feed(stream[:n])
			stream = stream[n:]
		}
		if !slices.EqualFunc(want, got, bytes.Equal) {
			t.Fatalf("%d messages seen, %d sent", len(got), len(want))
		}
		if tp.between() == junk {
			t.Fatalf("between = %t after junk %t", tp.between(), junk)
		}
	})
}

func TestTapWithinMessage(t *testing.T) {
	tp := &tap{see: func([]byte) {}}
	tp.feed(keepalive()[:5])
	if tp.between() {
		t.Error("a message that has begun is not told")
	}
	tp.feed(keepalive()[5:])
	if !tp.between() {
		t.Error("a message that has ended is not told")
	}
}
