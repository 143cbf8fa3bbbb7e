package authority

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestAnswer(t *testing.T) {
	type answer struct {
		Rcode     string
		Answer    []string
		Authority []string
	}
	const lanSOA = "lan.\t1\tIN\tSOA\tns.lan. hostmaster.lan. 1 3600 600 86400 1"
	const rootSOA = ".\t1\tIN\tSOA\tns. hostmaster. 1 3600 600 86400 1"
	const internetSOA = "internet.example.\t1\tIN\tSOA\tns.internet.example. hostmaster.internet.example. 1 3600 600 86400 1"
	large := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("t", 200)+`" `, 10), " ")
	tests := []struct {
		name  string
		qname string
		qtype uint16
		want  answer
	}{
		{"host", "nas.lan.", dns.TypeA, answer{"NOERROR", []string{"nas.lan.\t60\tIN\tA\t198.51.100.18"}, nil}},
		{"case is kept and does not matter", "NAS.lan.", dns.TypeA, answer{"NOERROR", []string{"NAS.lan.\t60\tIN\tA\t198.51.100.18"}, nil}},
		{"host over IPv6", "nas.lan.", dns.TypeAAAA, answer{"NOERROR", []string{"nas.lan.\t60\tIN\tAAAA\t2001:db8:ff:1::2"}, nil}},
		{"host without that type", "nas.lan.", dns.TypeMX, answer{"NOERROR", nil, []string{lanSOA}}},
		{"no such host", "nobody.lan.", dns.TypeA, answer{"NXDOMAIN", nil, []string{lanSOA}}},
		{"no such host of a longer name", "a.nas.lan.", dns.TypeA, answer{"NXDOMAIN", nil, []string{lanSOA}}},
		{"the zone itself", "lan.", dns.TypeA, answer{"NOERROR", nil, []string{lanSOA}}},
		{"the zone's SOA", "lan.", dns.TypeSOA, answer{"NOERROR", []string{"lan.\t60\tIN\tSOA\tns.lan. hostmaster.lan. 1 3600 600 86400 1"}, nil}},
		{"the root's servers", ".", dns.TypeNS, answer{"NOERROR", []string{".\t300\tIN\tNS\tns."}, nil}},
		{"no such zone", "plan.", dns.TypeA, answer{"NXDOMAIN", nil, []string{rootSOA}}},
		{"popular", "video.internet.example.", dns.TypeA, answer{"NOERROR", []string{"video.internet.example.\t300\tIN\tA\t198.51.100.33"}, nil}},
		{"fresh", "0f.fresh.internet.example.", dns.TypeA, answer{"NOERROR", []string{"0f.fresh.internet.example.\t0\tIN\tA\t198.51.100.49"}, nil}},
		{"above fresh", "fresh.internet.example.", dns.TypeA, answer{"NOERROR", nil, []string{internetSOA}}},
		{"large", Large, dns.TypeTXT, answer{"NOERROR", []string{Large + "\t300\tIN\tTXT\t" + large}, nil}},
		{"large and fresh", "0f.fresh.internet.example.", dns.TypeTXT, answer{"NOERROR", []string{"0f.fresh.internet.example.\t0\tIN\tTXT\t" + large}, nil}},
		{"popular without text", "video.internet.example.", dns.TypeTXT, answer{"NOERROR", nil, []string{internetSOA}}},
		{"home without text", "nas.lan.", dns.TypeTXT, answer{"NOERROR", nil, []string{lanSOA}}},
		{"beside fresh", "stale.internet.example.", dns.TypeA, answer{"NXDOMAIN", nil, []string{internetSOA}}},
	}
	content := zones()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := new(dns.Msg)
			q.SetQuestion(tt.qname, tt.qtype)
			m := new(dns.Msg)
			m.SetReply(q)
			find(content, tt.qname).answer(m, q.Question[0])
			got := answer{dns.RcodeToString[m.Rcode], text(m.Answer), text(m.Ns)}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("unexpected answer (-want +got):\n%s", d)
			}
			if _, err := m.Pack(); err != nil || !m.Authoritative {
				t.Errorf("the answer does not fit the wire or is not authoritative: %v", err)
			}
		})
	}
}

// text is records in zone file form.
func text(records []dns.RR) []string {
	var lines []string
	for _, r := range records {
		lines = append(lines, r.String())
	}
	return lines
}

// TestNames shows that the names handed to load generators exist.
func TestNames(t *testing.T) {
	content := zones()
	for _, name := range append(Popular(), Hosts()...) {
		if _, ok := find(content, name).hosts[name]; !ok {
			t.Errorf("%s does not exist", name)
		}
	}
}
