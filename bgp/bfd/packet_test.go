package bfd

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wirePacket has another value in each field; its bytes were written by hand
// from the figure in RFC 5880, section 4.1.
const wirePacket = "27 e8 05 18 01020304 a1a2a3a4 00004e20 000493e0 0000c350"

// wireFields are the fields of wirePacket.
var wireFields = Packet{
	Diag: DiagAdminDown, State: Up, Poll: true, ControlPlaneIndependent: true,
	Multiplier: 5, MyDiscriminator: 0x01020304, YourDiscriminator: 0xa1a2a3a4,
	DesiredMinTx:      20 * time.Millisecond,
	RequiredMinRx:     300 * time.Millisecond,
	RequiredMinEchoRx: 50 * time.Millisecond,
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	var digits []byte
	for _, c := range []byte(s) {
		if c != ' ' {
			digits = append(digits, c)
		}
	}
	b, err := hex.DecodeString(string(digits))
	if err != nil {
		t.Fatalf("failed to decode %q: %v", s, err)
	}
	return b
}

func TestPacketOnTheWire(t *testing.T) {
	want := unhex(t, wirePacket)
	if diff := cmp.Diff(want, wireFields.AppendTo(nil)); diff != "" {
		t.Errorf("unexpected bytes (-want +got):\n%s", diff)
	}
	got, discard := Parse(want)
	if discard != Accepted {
		t.Fatalf("discarded: %v", discard)
	}
	if diff := cmp.Diff(wireFields, got); diff != "" {
		t.Errorf("unexpected packet (-want +got):\n%s", diff)
	}
}

func TestPacketFlags(t *testing.T) {
	tests := []struct {
		name string
		p    Packet
		want byte // the second byte
	}{
		{"admin down", Packet{State: AdminDown}, 0x00},
		{"down", Packet{State: Down}, 0x40},
		{"init", Packet{State: Init}, 0x80},
		{"up", Packet{State: Up}, 0xc0},
		{"poll", Packet{Poll: true}, 0x20},
		{"final", Packet{Final: true}, 0x10},
		{"control plane independent", Packet{ControlPlaneIndependent: true}, 0x08},
		{"auth", Packet{Auth: []byte{1, 4, 9, 'x'}}, 0x04},
		{"demand", Packet{Demand: true}, 0x02},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.Multiplier, tt.p.MyDiscriminator = 3, 1
			b := tt.p.AppendTo(nil)
			if b[1] != tt.want {
				t.Errorf("second byte %#02x, want %#02x", b[1], tt.want)
			}
			got, discard := Parse(b)
			if discard != Accepted {
				t.Fatalf("discarded: %v", discard)
			}
			if diff := cmp.Diff(tt.p, got); diff != "" {
				t.Errorf("unexpected packet (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseDiscards(t *testing.T) {
	set := func(i int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[i] = v; return b }
	}
	tests := []struct {
		name   string
		change func([]byte) []byte
		want   Discard
	}{
		{"good", func(b []byte) []byte { return b }, Accepted},
		{"good with bytes behind", func(b []byte) []byte { return append(b, 1, 2, 3) }, Accepted},
		{"longer than it needs", func(b []byte) []byte { b[3] = 27; return append(b, 1, 2, 3) }, Accepted},
		{"empty", func([]byte) []byte { return nil }, DiscardShort},
		{"version 0", set(0, 0x07), DiscardVersion},
		{"version 2 and short", func([]byte) []byte { return []byte{0x40} }, DiscardVersion},
		{"23 bytes", func(b []byte) []byte { return b[:23] }, DiscardShort},
		{"length 23", set(3, 23), DiscardShort},
		{"length 0", set(3, 0), DiscardShort},
		{"auth bit, length 24", set(1, 0xc4), DiscardShort},
		{"auth bit, length 25", func(b []byte) []byte { b[1], b[3] = 0xc4, 25; return append(b, 1) }, DiscardShort},
		{"auth bit, length 26", func(b []byte) []byte { b[1], b[3] = 0xc4, 26; return append(b, 1, 2) }, Accepted},
		{"length above the payload", set(3, 25), DiscardLength},
		{"multiplier 0", set(2, 0), DiscardMultiplier},
		{"multipoint", set(1, 0xc1), DiscardMultipoint},
		{"my discriminator 0", func(b []byte) []byte { clear(b[4:8]); return b }, DiscardMyDiscriminator},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := Parse(tt.change(unhex(t, wirePacket))); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestNames makes sure that nothing that people may see lacks a name.
func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	check := func(name string) {
		t.Helper()
		if name == "" || seen[name] {
			t.Errorf("no name of its own: %q", name)
		}
		seen[name] = true
	}
	for d := Accepted; d <= discards; d++ {
		check(d.String())
	}
	for s := AdminDown; s <= Up+1; s++ {
		check(s.String())
	}
	for r := ReasonHeard; r <= ReasonEnabled+1; r++ {
		check(r.String())
	}
	for d := DiagNone; d <= DiagReverseConcatenatedPathDown+1; d++ {
		check(d.String())
	}
	for a := AuthType(0); a <= MeticulousKeyedSHA1+1; a++ {
		check(a.String())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(unhex(f, wirePacket))
	f.Add((&Packet{Multiplier: 1, MyDiscriminator: 1, Auth: []byte{1, 4, 9, 'x'}}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, discard := Parse(b)
		if discard != Accepted {
			if diff := cmp.Diff(Packet{}, p); diff != "" {
				t.Errorf("a discarded packet is not empty:\n%s", diff)
			}
			return
		}
		again, discard := Parse(p.AppendTo(nil))
		if discard != Accepted {
			t.Fatalf("its own bytes are discarded: %v", discard)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Errorf("changed on its way (-first +second):\n%s", diff)
		}
	})
}
