package load

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// TestTemplate shows that a question that is put together is the one that a
// library would make, for every kind of entry.
func TestTemplate(t *testing.T) {
	mix, err := templates(append(Household(), "a.{random}.b.{random}.c. TXT", ". NS", "x{random}y.lan. AAAA"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range mix {
		for _, n := range []uint64{0, 1, 0x0123456789abcdef, marker} {
			got := new(dns.Msg)
			if err := got.Unpack(mix[i].put(nil, 4242, n)); err != nil {
				t.Fatalf("%s: %v", mix[i].name, err)
			}
			want := new(dns.Msg)
			want.SetQuestion(mix[i].fill(n), mix[i].qtype)
			want.Id = 4242
			want.SetEdns0(udpSize, false)
			want.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}
			if d := cmp.Diff(want.String(), got.String()); d != "" {
				t.Errorf("unexpected question (-want +got):\n%s", d)
			}
		}
	}
}

// TestAnsweredBy shows what is taken for the answer to a question.
func TestAnsweredBy(t *testing.T) {
	mix, err := templates(Mix{"{random}.lan. AAAA"})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(change func(*dns.Msg)) []byte {
		m := new(dns.Msg)
		if err := m.Unpack(mix[0].put(nil, 7, 5)); err != nil {
			t.Fatal(err)
		}
		m.SetReply(m.Copy())
		change(m)
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	tests := []struct {
		name string
		m    []byte
		want bool
	}{
		{"the answer", answer(func(*dns.Msg) {}), true},
		{"in other letters", answer(func(m *dns.Msg) { m.Question[0].Name = "0000000000000005.LAN." }), true},
		{"another number", answer(func(m *dns.Msg) { m.Id = 8 }), false},
		{"a question", answer(func(m *dns.Msg) { m.Response = false }), false},
		{"another name", answer(func(m *dns.Msg) { m.Question[0].Name = "0000000000000006.lan." }), false},
		{"another type", answer(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeA }), false},
		{"no question", answer(func(m *dns.Msg) { m.Question = nil }), false},
		{"cut off", answer(func(*dns.Msg) {})[:20], false},
		{"nothing", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mix[0].answeredBy(tt.m, 7, 5); got != tt.want {
				t.Errorf("answered is %v", got)
			}
		})
	}
}

// TestParse shows that an answer's code and identity are found behind whatever
// other records, as a library finds them.
func TestParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := new(dns.Msg)
		m.SetQuestion("a.lan.", dns.TypeA)
		m.Response = true
		m.Rcode = rapid.IntRange(0, 15).Draw(t, "rcode")
		m.Truncated = rapid.Bool().Draw(t, "truncated")
		m.Compress = rapid.Bool().Draw(t, "compressed")
		for i := range rapid.IntRange(0, 3).Draw(t, "answers") {
			rr, err := dns.NewRR([]string{"a.lan. 60 A 192.0.2.1", "a.lan. 60 CNAME b.lan.", "a.lan. 60 TXT x"}[i])
			if err != nil {
				t.Fatal(err)
			}
			m.Answer = append(m.Answer, rr)
		}
		var node []byte
		if rapid.Bool().Draw(t, "edns") {
			m.SetEdns0(udpSize, false)
			opt := m.IsEdns0()
			if rapid.Bool().Draw(t, "padded") {
				opt.Option = append(opt.Option, &dns.EDNS0_PADDING{Padding: make([]byte, 9)})
			}
			if node = rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "node"); len(node) > 0 {
				opt.Option = append(opt.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hex.EncodeToString(node)})
			}
			m.Rcode |= rapid.IntRange(0, 255).Draw(t, "extended") << 4
		}
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		got := parse(b)
		if got.rcode != m.Rcode || got.truncated != m.Truncated || !bytes.Equal(got.node, node) {
			t.Errorf("read %+v, want rcode %d, truncated %v, node %x", got, m.Rcode, m.Truncated, node)
		}
	})
}

// FuzzParse shows that no message makes the reader fall over.
func FuzzParse(f *testing.F) {
	mix, err := templates(Household())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(mix[0].put(nil, 1, 2))
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Add(append(make([]byte, 11), 1, 0xc0))
	f.Fuzz(func(t *testing.T, m []byte) {
		mix[0].answeredBy(m, 1, 2)
		if len(m) >= headerSize {
			parse(m)
		}
	})
}

// TestNames shows that few numbers stand for few texts, and that what is not
// text is spelled.
func TestNames(t *testing.T) {
	n := newNames()
	a, b := n.of([]byte("n1")), n.of([]byte("n2"))
	if a == b || a != n.of([]byte("n1")) || n.text(a) != "n1" || n.text(0) != "" || n.of(nil) != 0 {
		t.Errorf("numbers %d and %d, texts %q and %q", a, b, n.text(a), n.text(b))
	}
	if got := n.text(n.of([]byte{0, 255})); got != "00ff" {
		t.Errorf("text %q", got)
	}
	for i := range maxNames + 10 {
		n.of([]byte{byte(i >> 8), byte(i)})
	}
	if got := n.of([]byte("one too many")); int(got) != maxNames-1 {
		t.Errorf("number %d of one too many, want the last", got)
	}
}
