package bfd

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"math"
	"strings"
	"testing"
)

var authTypes = []AuthType{SimplePassword, KeyedMD5, MeticulousKeyedMD5, KeyedSHA1, MeticulousKeyedSHA1}

// testAuth returns authentication with two keys, 7 and 8.
func testAuth(t AuthType) *Auth {
	return &Auth{Type: t, Keys: []Key{{7, []byte("first secret")}, {8, []byte("second")}}}
}

// authPacket is what the tests sign.
var authPacket = Packet{State: Down, Multiplier: 3, MyDiscriminator: 9}

// verifyRaw parses a packet and verifies it.
func verifyRaw(t *testing.T, a *Auth, raw []byte, s sequence) (sequence, Discard) {
	t.Helper()
	p, discard := Parse(raw)
	if discard != Accepted {
		t.Fatalf("not parsed: %v", discard)
	}
	return a.verify(raw, &p, s)
}

// TestSignLayout checks each type's section against RFC 5880, 4.2 to 4.4, with
// the digest made here by other means.
func TestSignLayout(t *testing.T) {
	head := func(length byte) []byte {
		return []byte{0x20, 0x44, 3, length, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	}
	keyed := func(typ AuthType, size int, sum func([]byte) []byte) []byte {
		b := append(head(byte(24+8+size)), byte(typ), byte(8+size), 7, 0, 0xfe, 0xdc, 0xba, 0x98)
		key := append([]byte("first secret"), make([]byte, size-12)...)
		return append(b, sum(append(bytes.Clone(b), key...))...)
	}
	md := func(b []byte) []byte { s := md5.Sum(b); return s[:] }
	sha := func(b []byte) []byte { s := sha1.Sum(b); return s[:] }
	tests := []struct {
		typ  AuthType
		want []byte
	}{
		{SimplePassword, append(append(head(24+15), 1, 15, 7), "first secret"...)},
		{KeyedMD5, keyed(KeyedMD5, 16, md)},
		{MeticulousKeyedMD5, keyed(MeticulousKeyedMD5, 16, md)},
		{KeyedSHA1, keyed(KeyedSHA1, 20, sha)},
		{MeticulousKeyedSHA1, keyed(MeticulousKeyedSHA1, 20, sha)},
	}
	for _, tt := range tests {
		t.Run(tt.typ.String(), func(t *testing.T) {
			prefix := []byte("kept")
			got := testAuth(tt.typ).sign(prefix, authPacket, 0xfedcba98)
			if want := append(prefix, tt.want...); !bytes.Equal(got, want) {
				t.Errorf("unexpected bytes\nwant %x\ngot  %x", want, got)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	for _, typ := range authTypes {
		t.Run(typ.String(), func(t *testing.T) {
			a := testAuth(typ)
			s, d := verifyRaw(t, a, a.sign(nil, authPacket, 100), sequence{})
			if d != Accepted {
				t.Fatalf("our own packet discarded: %v", d)
			}
			want := sequence{known: true, last: 100}
			if typ == SimplePassword {
				want = sequence{}
			}
			if s != want {
				t.Errorf("sequence %+v, want %+v", s, want)
			}
			if typ != SimplePassword {
				s, _ := verifyRaw(t, a, a.sign(nil, authPacket, 1), sequence{known: true, last: 1<<32 - 1})
				if s.last != 1 {
					t.Errorf("after the greatest number and around: %d", s.last)
				}
			}
			other := &Auth{Type: typ, Keys: []Key{a.Keys[1]}}
			if _, d := verifyRaw(t, a, other.sign(nil, authPacket, 100), s); (d == Accepted) != (typ == SimplePassword || !typ.meticulous()) {
				t.Errorf("second key, same number: %v", d)
			}
			if _, d := verifyRaw(t, a, other.sign(nil, authPacket, 101), s); d != Accepted {
				t.Errorf("second key, next number: %v", d)
			}
		})
	}
}

// TestVerifyBytes changes each byte of an authenticated packet in turn.
func TestVerifyBytes(t *testing.T) {
	for _, typ := range authTypes[1:] {
		t.Run(typ.String(), func(t *testing.T) {
			a := testAuth(typ)
			good := a.sign(nil, authPacket, 5)
			for i := range good {
				raw := bytes.Clone(good)
				raw[i] ^= 0x10
				p, d := Parse(raw)
				if d != Accepted || p.Auth == nil {
					continue
				}
				if s, d := a.verify(raw, &p, sequence{}); d == Accepted || s.known {
					t.Errorf("byte %d changed: accepted", i)
				}
			}
		})
	}
}

func TestVerifyDiscards(t *testing.T) {
	edit := func(typ AuthType, f func([]byte) []byte) []byte {
		return f(testAuth(typ).sign(nil, authPacket, 5))
	}
	set := func(i int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[i] = v; return b }
	}
	short := func(b []byte) []byte { b[3]--; return b }
	tests := []struct {
		name string
		typ  AuthType
		raw  []byte
		want Discard
	}{
		{"simple: another type", SimplePassword, edit(KeyedMD5, set(0, 0x20)), DiscardAuthType},
		{"simple: unknown key", SimplePassword, edit(SimplePassword, set(26, 9)), DiscardAuthKey},
		{"simple: wrong length", SimplePassword, edit(SimplePassword, set(25, 14)), DiscardAuthLength},
		{"simple: cut off", SimplePassword, edit(SimplePassword, short), DiscardAuthLength},
		{"simple: other key's ID", SimplePassword, edit(SimplePassword, set(26, 8)), DiscardAuthLength},
		{"simple: wrong password", SimplePassword, edit(SimplePassword, set(30, 'x')), DiscardAuthDigest},
		{"simple: no password", SimplePassword, edit(SimplePassword, set(3, 27)), DiscardAuthLength},
		{"two bytes", KeyedSHA1, edit(KeyedSHA1, set(3, 26)), DiscardAuthLength},
		{"md5: keyed for meticulous", MeticulousKeyedMD5, edit(KeyedMD5, set(0, 0x20)), DiscardAuthType},
		{"md5: unknown key", KeyedMD5, edit(KeyedMD5, set(26, 9)), DiscardAuthKey},
		{"md5: wrong length", KeyedMD5, edit(KeyedMD5, set(25, 28)), DiscardAuthLength},
		{"md5: cut off", KeyedMD5, edit(KeyedMD5, short), DiscardAuthLength},
		{"md5: other key's ID", KeyedMD5, edit(KeyedMD5, set(26, 8)), DiscardAuthDigest},
		{"sha1: wrong length", KeyedSHA1, edit(KeyedSHA1, set(25, 24)), DiscardAuthLength},
		{"sha1: wrong digest", KeyedSHA1, edit(KeyedSHA1, set(51, 1)), DiscardAuthDigest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, d := verifyRaw(t, testAuth(tt.typ), tt.raw, sequence{}); d != tt.want {
				t.Errorf("got %v, want %v", d, tt.want)
			}
		})
	}
}

func TestSequenceWindow(t *testing.T) {
	const last = math.MaxUint32 - 1 // so that the window wraps around
	tests := []struct {
		name              string
		seq               uint32
		keyed, meticulous bool
	}{
		{"before", last - 1, false, false},
		{"the same", last, true, false},
		{"next", last + 1, true, true},
		{"around", 3, true, true},
		{"end of the window, 3 x 3", 7, true, true},
		{"behind the window", 8, false, false},
		{"far", last / 2, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sequence{known: true, last: last}
			if got := s.accept(KeyedMD5, tt.seq, 3); got != tt.keyed {
				t.Errorf("keyed: %t, want %t", got, tt.keyed)
			}
			if got := s.accept(MeticulousKeyedSHA1, tt.seq, 3); got != tt.meticulous {
				t.Errorf("meticulous: %t, want %t", got, tt.meticulous)
			}
			if !(sequence{last: last}).accept(MeticulousKeyedMD5, tt.seq, 3) {
				t.Error("not accepted though none is known")
			}
		})
	}
}

func TestAuthValidate(t *testing.T) {
	key := func(id uint8, n int) Key { return Key{ID: id, Secret: []byte(strings.Repeat("s", n))} }
	tests := []struct {
		name string
		auth Auth
		want string // "" if it is valid
	}{
		{"simple", Auth{SimplePassword, []Key{key(1, 16)}}, ""},
		{"sha1", Auth{KeyedSHA1, []Key{key(0, 20), key(255, 1)}}, ""},
		{"no type", Auth{0, []Key{key(1, 1)}}, "auth.type: 0: must be 1 to 5"},
		{"unknown type", Auth{6, []Key{key(1, 1)}}, "auth.type: 6: must be 1 to 5"},
		{"no key", Auth{KeyedMD5, nil}, "auth.keys: none: keyed-md5 needs at least one"},
		{"empty", Auth{KeyedMD5, []Key{key(1, 0)}}, "auth.keys[0]: a secret of 0 bytes: keyed-md5 takes 1 to 16"},
		{"too long", Auth{KeyedMD5, []Key{key(1, 17)}}, "auth.keys[0]: a secret of 17 bytes: keyed-md5 takes 1 to 16"},
		{"too long for sha1", Auth{KeyedSHA1, []Key{key(1, 21)}}, "auth.keys[0]: a secret of 21 bytes: keyed-sha1 takes 1 to 20"},
		{"twice", Auth{KeyedSHA1, []Key{key(1, 2), key(1, 3)}}, "auth.keys[1].id: 1: already used by another key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.auth.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseAuthType(t *testing.T) {
	for _, typ := range authTypes {
		if got, err := ParseAuthType(typ.String()); err != nil || got != typ {
			t.Errorf("%v: got %v, %v", typ, got, err)
		}
	}
	if got, err := ParseAuthType(""); err == nil {
		t.Errorf("the empty name is %v", got)
	}
}
