package dnsx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// inquire returns the inquiry for a name.
func inquire(t *testing.T, name string, kind uint16) Inquiry {
	t.Helper()
	i, err := NewInquiry(name, kind)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// withNSID returns what answers q with that identifier, in hex digits.
func withNSID(q *dns.Msg, id string) *dns.Msg {
	m := reply(q, dns.RcodeSuccess)
	m.SetEdns0(ednsSize, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"},
		&dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: id}}
	return m
}

// TestIdentity reads the node out of answers, as they come off the wire.
func TestIdentity(t *testing.T) {
	own := Inquiries()
	id := func(hex string) func(*dns.Msg) *dns.Msg {
		return func(q *dns.Msg) *dns.Msg { return withNSID(q, hex) }
	}
	records := func(texts ...string) func(*dns.Msg) *dns.Msg {
		return func(q *dns.Msg) *dns.Msg {
			m := reply(q, dns.RcodeSuccess)
			for _, text := range texts {
				m.Answer = append(m.Answer, record(text))
			}
			return m
		}
	}
	code := func(code int) func(*dns.Msg) *dns.Msg {
		return func(q *dns.Msg) *dns.Msg { return reply(q, code) }
	}
	who, addr := inquire(t, "who.lan", dns.TypeTXT), inquire(t, "who.lan", dns.TypeA)
	for _, tt := range []struct {
		name   string
		ask    Inquiry
		answer func(*dns.Msg) *dns.Msg
		want   string
	}{
		{"NSID of text", own[0], id("6e31"), "n1"},
		{"NSID of other bytes", own[0], id("6e0a31"), "0x6e0a31"},
		{"NSID of an escape", own[0], id("1b5b324a"), "0x1b5b324a"},
		{"NSID of nothing", own[0], id(""), ""},
		{"NSID of blanks", own[0], id("2020"), "0x2020"},
		{"NSID that is long", own[0], id(strings.Repeat("61", 300)), strings.Repeat("a", 255) + "...89971909"},
		{"NSID that is long and ends otherwise", own[0], id(strings.Repeat("61", 299) + "62"), strings.Repeat("a", 255) + "...109e48b3"},
		{"no NSID", own[0], records(". 60 IN NS a.root-servers.net."), ""},
		{"no EDNS", own[0], code(dns.RcodeFormatError), ""},
		{"id.server", own[1], records(`id.server. 0 CH TXT "n1.example"`), "n1.example"},
		{"id.server in class IN", own[1], records(`id.server. 0 IN TXT "n1.example"`), ""},
		{"id.server refused", own[1], code(dns.RcodeRefused), ""},
		{"hostname.bind", own[2], records(`hostname.bind. 0 CH TXT "n1"`), "n1"},
		{"a name", who, records(`who.lan. 0 IN TXT "node" "-1"`), "node-1"},
		{"several records, in any order", who, records(`who.lan. 0 IN TXT b`, `who.lan. 0 IN TXT a`), "a b"},
		{"behind an alias", who, records("who.lan. 0 IN CNAME n1.lan.", "n1.lan. 0 IN TXT n1"), "n1"},
		{"an alias only", who, records("who.lan. 0 IN CNAME n1.lan."), ""},
		{"bytes that do not print", who, records(`who.lan. 0 IN TXT "\027[2J"`), `\027[2J`},
		{"blanks", who, records(`who.lan. 0 IN TXT " "`, `who.lan. 0 IN TXT ""`), ""},
		{"an address", addr, records("who.lan. 0 IN A 10.1.1.11"), "10.1.1.11"},
		{"no such name", who, code(dns.RcodeNameError), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, err := tt.ask.query(Config{})
			if err != nil {
				t.Fatal(err)
			}
			m := new(dns.Msg)
			if err := m.Unpack(q.wire); err != nil {
				t.Fatal(err)
			}
			raw, err := tt.answer(m).Pack()
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Unpack(raw); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, tt.ask.identity(m)); d != "" {
				t.Errorf("unexpected identity (-want +got):\n%s", d)
			}
		})
	}
}

// TestInquiry proves what leaves: NSID is asked for with a question for which
// nobody recurses, the names of the server without EDNS.
func TestInquiry(t *testing.T) {
	ask := append(Inquiries(), inquire(t, "Hostname.Bind.", dns.TypeA), inquire(t, "{random}.who.lan", dns.TypeAAAA))
	var got []string
	for _, i := range ask {
		q, err := i.query(Config{})
		if err != nil {
			t.Fatal(err)
		}
		m := new(dns.Msg)
		if err := m.Unpack(q.wire); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(strings.TrimPrefix(m.Question[0].String(), ";")), " ")
		if m.RecursionDesired {
			text += " rd"
		}
		if o := m.IsEdns0(); o != nil && o.Option[0].Option() == dns.EDNS0NSID {
			text += " nsid"
		}
		got = append(got, i.String()+": "+text)
	}
	label, rest, _ := strings.Cut(strings.TrimPrefix(got[4], "{random}.who.lan AAAA: "), ".")
	if len(label) != 16 {
		t.Errorf("the fresh part is %q", label)
	}
	got[4] = rest
	want := []string{"NSID: . IN NS nsid", "id.server: id.server. CH TXT rd", "hostname.bind: hostname.bind. CH TXT rd",
		"hostname.bind: hostname.bind. CH TXT rd", "who.lan. IN AAAA rd"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("unexpected questions (-want +got):\n%s", d)
	}
}

// TestNewInquiryErrors refuses what cannot be asked for.
func TestNewInquiryErrors(t *testing.T) {
	for name, kind := range map[string]uint16{
		"": dns.TypeTXT, "a..b": dns.TypeTXT, "{node}.lan": dns.TypeTXT, strings.Repeat("a", 64) + ".lan": dns.TypeA, "who.lan": dns.TypeANY,
		"who lan": dns.TypeTXT, "\x1b[2J.lan": dns.TypeTXT, `who\`: dns.TypeTXT,
	} {
		if i, err := NewInquiry(name, kind); err == nil {
			t.Errorf("%q is asked for as %v", name, i)
		}
	}
}
