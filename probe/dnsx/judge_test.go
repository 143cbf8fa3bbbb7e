package dnsx

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/probe"
)

// answer returns the answer to a query with the code, records of its answer
// and authority sections, and extended errors.
func answer(q query, rcode int, answers, authority []string, ede ...uint16) *dns.Msg {
	m := new(dns.Msg)
	if err := m.Unpack(q.wire); err != nil {
		panic(err)
	}
	m.Response, m.Rcode, m.Extra = true, rcode, nil
	for _, text := range answers {
		m.Answer = append(m.Answer, record(q.question.Name+" "+text))
	}
	for _, text := range authority {
		m.Ns = append(m.Ns, record(text))
	}
	if len(ede) > 0 {
		m.SetEdns0(ednsSize, false)
		for _, code := range ede {
			opt := m.IsEdns0()
			opt.Option = append(opt.Option, &dns.EDNS0_EDE{InfoCode: code})
		}
	}
	return m
}

// soa returns the SOA record of a zone.
func soa(zone string) []string { return []string{zone + " 60 IN SOA ns. admin. 1 2 3 4 60"} }

// loopback is a server that no test asks.
var loopback, _ = ParseServer("127.0.0.1")

// ask returns a query as it would leave.
func ask(t *testing.T, c Config) query {
	t.Helper()
	c.Server = loopback
	q, err := newQuery(prober(t, c).config)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestJudge proves which answers are right and what is said of the others.
func TestJudge(t *testing.T) {
	const (
		ok, nx, servfail = dns.RcodeSuccess, dns.RcodeNameError, dns.RcodeServerFailure
	)
	lan := Config{Name: "{random}.lan", SOA: "lan"}
	plain := Config{Name: "{random}.lan"}
	valued := Config{Name: "nas.lan", Answer: "10.1.1.236"}
	tests := []struct {
		name    string
		config  Config
		rcode   int
		answers []string
		soa     []string
		ede     []uint16
		want    finding
	}{
		{"nxdomain of the zone", lan, nx, nil, soa("lan."), nil, finding{cause: probe.Passed, text: "NXDOMAIN", alive: true}},
		{"nxdomain of the zone, other case", lan, nx, nil, soa("LAN."), nil, finding{cause: probe.Passed, text: "NXDOMAIN", alive: true}},
		{"nxdomain of the root", lan, nx, nil, soa("."), nil, wrong("NXDOMAIN from zone . instead of lan.")},
		{"nxdomain without soa", lan, nx, nil, nil, nil, wrong("NXDOMAIN without the SOA of lan.")},
		{"no soa is asked for", plain, nx, nil, nil, nil, finding{cause: probe.Passed, text: "NXDOMAIN", alive: true}},
		{"no data of the zone", lan, ok, nil, soa("lan."), nil, finding{cause: probe.Passed, text: "NOERROR", alive: true}},
		{"no data of the root", lan, ok, nil, soa("."), nil, wrong("NOERROR from zone . instead of lan.")},
		{"an alias to nothing is no data", lan, ok, []string{"CNAME nas.lan."}, nil, nil, wrong("NOERROR without the SOA of lan.")},
		{"data needs no soa", lan, ok, []string{"A 10.1.1.1"}, nil, nil, finding{cause: probe.Passed, text: "NOERROR", alive: true}},
		{"data of any type", Config{Name: "{random}.lan", SOA: "lan", Type: dns.TypeANY}, ok, []string{"TXT a"}, nil, nil,
			finding{cause: probe.Passed, text: "NOERROR", alive: true}},
		{"servfail", lan, servfail, nil, nil, nil, wrong("SERVFAIL")},
		{"servfail with reason", lan, servfail, nil, nil, []uint16{22}, wrong("SERVFAIL (EDE 22 No Reachable Authority)")},
		{"unknown reason", lan, servfail, nil, nil, []uint16{9999}, wrong("SERVFAIL (EDE 9999)")},
		{"refused", lan, dns.RcodeRefused, nil, nil, nil, wrong("REFUSED")},
		{"formerr", lan, dns.RcodeFormatError, nil, nil, nil, wrong("FORMERR")},
		{"unassigned code", lan, 12, nil, nil, nil, wrong("RCODE12")},
		{"stale", lan, nx, nil, soa("lan."), []uint16{3}, wrong("stale answer (EDE 3)")},
		{"stale nxdomain", lan, nx, nil, soa("lan."), []uint16{19}, wrong("stale NXDOMAIN (EDE 19)")},
		{"cached error", lan, servfail, nil, nil, []uint16{22, 13}, wrong("SERVFAIL from cache (EDE 13)")},
		{"other extended errors do not matter", lan, nx, nil, soa("lan."), []uint16{0, 15}, finding{cause: probe.Passed, text: "NXDOMAIN", alive: true}},
		{"synthesized", lan, nx, nil, soa("lan."), []uint16{29},
			finding{cause: probe.Unmade, text: "synthesized answer (EDE 29): the name is badly chosen, it shows nothing of the path", alive: true}},
		{"synthesized failure", lan, servfail, nil, nil, []uint16{29}, wrong("SERVFAIL (EDE 29 Synthesized)")},
		{"value", valued, ok, []string{"A 10.1.1.1", "A 10.1.1.236"}, nil, nil, finding{cause: probe.Passed, text: "NOERROR", alive: true}},
		{"value missing", valued, ok, []string{"A 10.1.1.1"}, nil, nil, wrong("NOERROR without 10.1.1.236 in the answer")},
		{"value and nxdomain", valued, nx, nil, nil, nil, wrong("NXDOMAIN")},
		{"code of choice", Config{Name: "id.lan", Rcodes: []int{dns.RcodeNotImplemented}}, dns.RcodeNotImplemented, nil, nil, nil,
			finding{cause: probe.Passed, text: "NOTIMP", alive: true}},
		{"code not of choice", Config{Name: "id.lan", Rcodes: []int{ok}}, nx, nil, nil, nil, wrong("NXDOMAIN")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := ask(t, tt.config)
			raw, err := answer(q, tt.rcode, tt.answers, tt.soa, tt.ede...).Pack()
			if err != nil {
				t.Fatal(err)
			}
			got, ok := q.read(raw, q.Server.Addr)
			if !ok {
				t.Fatal("the answer does not match")
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(finding{})); diff != "" {
				t.Errorf("unexpected finding (-want +got):\n%s", diff)
			}
		})
	}
}

// TestJudgeValues proves how a value is looked for in records of each kind.
func TestJudgeValues(t *testing.T) {
	tests := []struct {
		record, value string
		want          bool
	}{
		{"A 10.1.1.1", "10.1.1.1", true},
		{"A 10.1.1.1", "10.1.1.10", false},
		{"AAAA 2001:db8::1", "2001:DB8:0::1", true},
		{"AAAA 2001:db8::1", "2001:db8::2", false},
		{`TXT "node" "1"`, "node1", true},
		{`TXT "node1"`, "NODE1", false},
		{"CNAME NAS.lan.", "nas.lan", true},
		{"CNAME nas.lan.", "nas.lan.", true},
		{"MX 10 mail.lan.", "10 mail.lan", true},
		{"MX 10 mail.lan.", "mail.lan", false},
		{"A 10.1.1.1", "not an address", false},
	}
	for _, tt := range tests {
		q := query{Config: Config{Answer: tt.value}}
		if got := q.valued(record("nas.lan. " + tt.record)); got != tt.want {
			t.Errorf("%q in %q: got %v, want %v", tt.value, tt.record, got, tt.want)
		}
	}
}

// TestJudgeTruncated proves that a truncated answer is wrong.
func TestJudgeTruncated(t *testing.T) {
	q := ask(t, Config{Name: "{random}.lan"})
	m := answer(q, dns.RcodeSuccess, nil, nil)
	m.Truncated = true
	want := wrong("NOERROR, truncated: too long for UDP, or its rate is limited")
	if got := q.judge(m); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
