package dnsx

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"recuse/probe"
)

// judge says whether m, which answers the query, is a right answer.
func (q query) judge(m *dns.Msg) finding {
	code := rcodeName(m.Rcode)
	if text, bad := stale(m); bad {
		return wrong(text)
	}
	switch {
	case !slices.Contains(q.Rcodes, m.Rcode):
		return wrong(code + because(m))
	case len(m.Question) == 0:
		return wrong(code + " without the question")
	case m.Truncated:
		// The probe is of this transport, so TCP would answer another question;
		// and a limiter of rates tells real clients the same way to come by TCP.
		return wrong(code + ", truncated: too long for UDP, or its rate is limited")
	case hasExtended(m, dns.ExtendedErrorCodeSynthesized):
		return finding{
			cause: probe.Unmade, alive: true,
			text: "synthesized answer (EDE 29): the name is badly chosen, it shows nothing of the path",
		}
	}
	if text := q.missing(m); text != "" {
		return wrong(code + text)
	}
	return finding{cause: probe.Passed, text: code, alive: true}
}

// missing says what a right answer code comes without, "" if nothing.
func (q query) missing(m *dns.Msg) string {
	if q.SOA != "" && q.negative(m) {
		zone, ok := soaOf(m)
		if !ok {
			return fmt.Sprintf(" without the SOA of %s", q.SOA)
		}
		if zone != q.SOA {
			return fmt.Sprintf(" from zone %s instead of %s", zone, q.SOA)
		}
	}
	if q.Answer != "" && !slices.ContainsFunc(m.Answer, q.valued) {
		return fmt.Sprintf(" without %s in the answer", q.Answer)
	}
	return ""
}

// negative tells whether m says that there is nothing of the kind: NXDOMAIN,
// or no record of the type asked for (RFC 2308 section 2).
func (q query) negative(m *dns.Msg) bool {
	if m.Rcode == dns.RcodeNameError {
		return true
	}
	return m.Rcode == dns.RcodeSuccess && !slices.ContainsFunc(m.Answer, func(rr dns.RR) bool {
		return rr.Header().Rrtype == q.Type || q.Type == dns.TypeANY
	})
}

// soaOf returns the owner of the first SOA in the authority section.
func soaOf(m *dns.Msg) (zone string, ok bool) {
	for _, rr := range m.Ns {
		if soa, is := rr.(*dns.SOA); is {
			return dns.CanonicalName(soa.Hdr.Name), true
		}
	}
	return "", false
}

// valued tells whether a record holds the value that must be in the answer.
func (q query) valued(rr dns.RR) bool {
	switch rr := rr.(type) {
	case *dns.A:
		return sameAddr(q.Answer, rr.A)
	case *dns.AAAA:
		return sameAddr(q.Answer, rr.AAAA)
	case *dns.TXT:
		return dataOf(rr) == q.Answer
	}
	return strings.EqualFold(strings.TrimSuffix(dataOf(rr), "."), strings.TrimSuffix(q.Answer, "."))
}

// dataOf returns a record's data as text, the strings of a TXT record as one.
func dataOf(rr dns.RR) string {
	if txt, ok := rr.(*dns.TXT); ok {
		return strings.Join(txt.Txt, "")
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}

// sameAddr tells whether text is the address that a record holds.
func sameAddr(text string, ip []byte) bool {
	want, err := netip.ParseAddr(text)
	got, ok := netip.AddrFromSlice(ip)
	return err == nil && ok && want.Unmap() == got.Unmap()
}

// stale says so if m tells of itself that it is not fresh (RFC 8914).
func stale(m *dns.Msg) (string, bool) {
	switch {
	case hasExtended(m, dns.ExtendedErrorCodeStaleAnswer):
		return "stale answer (EDE 3)", true
	case hasExtended(m, dns.ExtendedErrorCodeStaleNXDOMAINAnswer):
		return "stale NXDOMAIN (EDE 19)", true
	case hasExtended(m, dns.ExtendedErrorCodeCachedError):
		return rcodeName(m.Rcode) + " from cache (EDE 13)", true
	}
	return "", false
}

// because returns the extended errors of m for people, "" if it has none.
func because(m *dns.Msg) string {
	var texts []string
	for _, e := range extended(m) {
		text := fmt.Sprintf("EDE %d", e.InfoCode)
		if name, ok := dns.ExtendedErrorCodeToString[e.InfoCode]; ok {
			text += " " + name
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, ", ") + ")"
}

// hasExtended tells whether m carries the extended error code.
func hasExtended(m *dns.Msg, code uint16) bool {
	return slices.ContainsFunc(extended(m), func(e *dns.EDNS0_EDE) bool { return e.InfoCode == code })
}

// extended returns the extended errors that m carries.
func extended(m *dns.Msg) []*dns.EDNS0_EDE {
	opt := m.IsEdns0()
	if opt == nil {
		return nil
	}
	var found []*dns.EDNS0_EDE
	for _, o := range opt.Option {
		if e, ok := o.(*dns.EDNS0_EDE); ok {
			found = append(found, e)
		}
	}
	return found
}

// rcodeName returns the name of an answer code.
func rcodeName(code int) string {
	if name, ok := dns.RcodeToString[code]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", code)
}
