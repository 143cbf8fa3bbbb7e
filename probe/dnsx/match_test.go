package dnsx

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"recuse/probe"
)

// TestQuery proves what leaves: one question for a fresh name with a fresh id,
// recursion desired, EDNS with 1232 bytes.
func TestQuery(t *testing.T) {
	ids, names := map[uint16]bool{}, map[string]bool{}
	for range 50 {
		q := ask(t, Config{Name: "{random}.lan", Type: dns.TypeTXT})
		m := new(dns.Msg)
		if err := m.Unpack(q.wire); err != nil {
			t.Fatal(err)
		}
		opt := m.IsEdns0()
		if m.Response || !m.RecursionDesired || len(m.Question) != 1 || opt == nil || opt.UDPSize() != 1232 || opt.Do() {
			t.Fatalf("unexpected query:\n%v", m)
		}
		if got := m.Question[0]; got.Qtype != dns.TypeTXT || got.Qclass != dns.ClassINET {
			t.Errorf("unexpected question %v", got)
		}
		label, rest, _ := strings.Cut(m.Question[0].Name, ".")
		if len(label) != 16 || strings.Trim(label, "0123456789abcdef") != "" || rest != "lan." {
			t.Errorf("unexpected name %q", m.Question[0].Name)
		}
		ids[m.Id], names[label] = true, true
	}
	if len(names) != 50 || len(ids) < 45 {
		t.Errorf("%d names and %d ids in 50 queries", len(names), len(ids))
	}
}

// TestReadMatch proves which packets count as answers to the query, and what
// is said of an answer from elsewhere.
func TestReadMatch(t *testing.T) {
	server := loopback.Addr
	elsewhere := netip.MustParseAddrPort("10.1.1.11:53")
	otherPort := netip.MustParseAddrPort("127.0.0.1:5353")
	tests := []struct {
		name   string
		change func(m *dns.Msg)
		from   netip.AddrPort
		want   string // "" stands for no match
	}{
		{"an answer", func(*dns.Msg) {}, server, "NXDOMAIN"},
		{"other letters", func(m *dns.Msg) { m.Question[0].Name = strings.ToUpper(m.Question[0].Name) }, server, "NXDOMAIN"},
		{"another id", func(m *dns.Msg) { m.Id++ }, server, ""},
		{"a query", func(m *dns.Msg) { m.Response = false }, server, ""},
		{"another name", func(m *dns.Msg) { m.Question[0].Name = "other.lan." }, server, ""},
		{"another type", func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeMX }, server, ""},
		{"another class", func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, server, ""},
		{"two questions", func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }, server, ""},
		{"no question", func(m *dns.Msg) { m.Question = nil }, server, "NXDOMAIN without the question"},
		{"no question, an error", func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeFormatError }, server, "FORMERR"},
		{"from elsewhere", func(*dns.Msg) {}, elsewhere, "answer from 10.1.1.11 instead of 127.0.0.1"},
		{"from another port", func(*dns.Msg) {}, otherPort, "answer from 127.0.0.1:5353 instead of 127.0.0.1:53"},
		{"from elsewhere, another id", func(m *dns.Msg) { m.Id++ }, elsewhere, ""},
		{"from elsewhere, another name", func(m *dns.Msg) { m.Question[0].Name = "other.lan." }, elsewhere, ""},
		{"from elsewhere, no question", func(m *dns.Msg) { m.Question = nil }, elsewhere, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := ask(t, Config{Name: "{random}.lan"})
			m := answer(q, dns.RcodeNameError, nil, soa("lan."))
			tt.change(m)
			raw, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			f, ok := q.read(raw, tt.from)
			if ok != (tt.want != "") || ok && f.text != tt.want {
				t.Fatalf("got %+v, match %v, want %q", f, ok, tt.want)
			}
			if passed := tt.want == "NXDOMAIN"; ok && (f.cause == probe.Passed) != passed || ok && !f.alive {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// TestReadMalformed proves that what begins like the answer and goes on as
// nonsense is a wrong answer if the server sent it, and nothing otherwise.
func TestReadMalformed(t *testing.T) {
	q := ask(t, Config{Name: "{random}.lan"})
	raw, err := answer(q, dns.RcodeNameError, nil, soa("lan.")).Pack()
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{headerSize + 1, len(q.question.Name) + headerSize, len(raw) - 1} {
		if got, ok := q.read(raw[:cut], q.Server.Addr); !ok || got != wrong("malformed answer") {
			t.Errorf("cut at %d: got %+v, match %v", cut, got, ok)
		}
		if _, ok := q.read(raw[:cut], netip.MustParseAddrPort("10.1.1.11:53")); ok {
			t.Errorf("cut at %d: a malformed packet from elsewhere matched", cut)
		}
	}
	for _, cut := range []int{0, 2, headerSize - 1} {
		if got, ok := q.read(raw[:cut], q.Server.Addr); ok {
			t.Errorf("cut at %d: got %+v", cut, got)
		}
	}
	if got, _ := q.read(raw[:headerSize], q.Server.Addr); got != wrong("NXDOMAIN without the question") {
		t.Errorf("a bare header: got %+v", got)
	}
}

// FuzzRead feeds whatever follows the right id to the reader. It must not
// panic, and only what carries an acceptable code passes.
func FuzzRead(f *testing.F) {
	q := query{
		Config: Config{Server: loopback, Type: dns.TypeA, SOA: "lan.", Answer: "10.1.1.236"},
		id:     0x4242,
	}
	q.Rcodes = []int{dns.RcodeSuccess}
	m := new(dns.Msg)
	m.SetQuestion("0123456789abcdef.lan.", q.Type)
	m.Id, q.question = q.id, m.Question[0]
	q.wire, _ = m.Pack()
	for _, answers := range [][]string{nil, {"A 10.1.1.236"}, {"CNAME nas.lan.", "TXT a b"}} {
		raw, err := answer(q, dns.RcodeSuccess, answers, soa("lan."), 3, 29).Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[2:])
	}
	f.Fuzz(func(t *testing.T, tail []byte) {
		raw := append([]byte{0x42, 0x42}, tail...)
		got, ok := q.read(raw, q.Server.Addr)
		if !ok {
			if got != (finding{}) {
				t.Errorf("no match, yet %+v", got)
			}
			return
		}
		if !got.alive || got.text == "" || got.cause == probe.Silent || got.cause == probe.Refused {
			t.Errorf("an answer gave %+v", got)
		}
		if rcode := raw[3] & 0xf; got.cause == probe.Passed && rcode != dns.RcodeSuccess {
			t.Errorf("code %d passed although a value is asked for", rcode)
		}
	})
}
