package authority

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestLeases(t *testing.T) {
	content := zones()
	if err := lease(content, 251); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		qname string
		qtype uint16
		rcode string
		want  []string
	}{
		{"1.0.20.10.in-addr.arpa.", dns.TypePTR, "NOERROR", []string{"1.0.20.10.in-addr.arpa.\t300\tIN\tPTR\tlease-0.lan."}},
		{"250.0.20.10.in-addr.arpa.", dns.TypePTR, "NOERROR", []string{"250.0.20.10.in-addr.arpa.\t300\tIN\tPTR\tlease-249.lan."}},
		{"1.1.20.10.IN-ADDR.arpa.", dns.TypePTR, "NOERROR", []string{"1.1.20.10.IN-ADDR.arpa.\t300\tIN\tPTR\tlease-250.lan."}},
		{"2.1.20.10.in-addr.arpa.", dns.TypePTR, "NXDOMAIN", nil},
		{"0.20.10.in-addr.arpa.", dns.TypeNS, "NOERROR", nil},
		{"20.10.in-addr.arpa.", dns.TypePTR, "NOERROR", nil},
		{"21.10.in-addr.arpa.", dns.TypePTR, "NXDOMAIN", nil},
		{"1.0.20.10.in-addr.arpa.", dns.TypeA, "NOERROR", nil},
		{"lease-250.lan.", dns.TypeA, "NOERROR", []string{"lease-250.lan.\t60\tIN\tA\t10.20.1.1"}},
		{"lease-250.lan.", dns.TypeAAAA, "NOERROR", nil},
		{"lease-251.lan.", dns.TypeA, "NXDOMAIN", nil},
		{"nas.lan.", dns.TypeA, "NOERROR", []string{"nas.lan.\t60\tIN\tA\t198.51.100.18"}},
	}
	for _, tt := range tests {
		q, m := new(dns.Msg), new(dns.Msg)
		q.SetQuestion(tt.qname, tt.qtype)
		m.SetReply(q)
		z := find(content, tt.qname)
		z.answer(m, q.Question[0])
		if dns.RcodeToString[m.Rcode] != tt.rcode {
			t.Errorf("%s %s: %s, want %s", tt.qname, dns.TypeToString[tt.qtype], dns.RcodeToString[m.Rcode], tt.rcode)
		}
		if d := cmp.Diff(tt.want, text(m.Answer)); d != "" {
			t.Errorf("%s: unexpected answer (-want +got):\n%s", tt.qname, d)
		}
		if _, err := m.Pack(); err != nil {
			t.Errorf("%s: the answer does not fit the wire: %v", tt.qname, err)
		}
	}
}

// TestEveryLease looks at all leases there can be: one address and one name
// each.
func TestEveryLease(t *testing.T) {
	content := zones()
	if err := lease(content, MaxLeases); err != nil {
		t.Fatal(err)
	}
	if n := len(content[Reverse].pointers); n != MaxLeases {
		t.Errorf("%d addresses for %d leases", n, MaxLeases)
	}
	for name, target := range content[Reverse].pointers {
		if h := content[LAN].hosts[target]; ReverseName(h.v4) != name {
			t.Fatalf("%s points to %s, which has %s", name, target, h.v4)
		}
	}
	for _, n := range []int{-1, MaxLeases + 1} {
		if err := lease(zones(), n); err == nil {
			t.Errorf("%d leases are no error", n)
		}
	}
	if content := zones(); lease(content, 0) != nil || content[Reverse] != nil {
		t.Error("a server without leases has their zone")
	}
}
