package authority

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// The zones that every authority serves. Names below Fresh do not repeat:
// whatever label is asked for there has an address with a TTL of zero.
const (
	Root     = "."
	LAN      = "lan."
	Internet = "internet.example."
	Fresh    = "fresh.internet.example."
)

// TTLs in seconds. A popular name stays cached for a whole run; what does not
// exist is remembered for a second, so that no negative answer outlives a fault.
const (
	popularTTL  = 300
	lanTTL      = 60
	negativeTTL = 1
)

// Large is a name of the internet zone whose TXT records, like those of the names
// below Fresh, fit in no UDP answer that a client of today asks for (1232 bytes,
// DNS Flag Day 2020), and fit in a TCP segment or two.
const Large = "large.internet.example."

// What the text of a large answer is made of.
const (
	largeStrings = 10
	largeString  = 200
)

// Popular are the names of the internet zone that a resolver soon has cached.
func Popular() []string {
	return []string{
		"video.internet.example.", "search.internet.example.",
		"mail.internet.example.", "news.internet.example.",
		"shop.internet.example.", "music.internet.example.",
	}
}

// Hosts are the names that exist in the home zone.
func Hosts() []string {
	return []string{"router.lan.", "nas.lan.", "printer.lan.", "tv.lan."}
}

// zone is the content of one zone: its apex, the names that exist with their
// addresses or with what they point to, and a suffix below which every name
// exists.
type zone struct {
	apex     string
	ttl      uint32
	hosts    map[string]host
	pointers map[string]string
	wildcard string
}

// host holds the addresses of one name.
type host struct{ v4, v6 netip.Addr }

// zones builds the content of all zones, keyed by apex.
func zones() map[string]*zone {
	return map[string]*zone{
		Root:     {apex: Root, ttl: popularTTL},
		LAN:      {apex: LAN, ttl: lanTTL, hosts: hosts(Hosts(), 1)},
		Internet: {apex: Internet, ttl: popularTTL, hosts: hosts(append(Popular(), Large), 2), wildcard: Fresh},
	}
}

// hosts gives each name an address of the documentation prefixes
// (RFC 5737, RFC 3849); net tells the zones apart.
func hosts(names []string, net byte) map[string]host {
	m := make(map[string]host, len(names))
	for i, name := range names {
		m[name] = address(net, byte(i+1))
	}
	return m
}

// address is the address of host n in the zone numbered net.
func address(net, n byte) host {
	v6 := netip.MustParseAddr("2001:db8:ff::").As16()
	v6[7], v6[15] = net, n
	return host{v4: netip.AddrFrom4([4]byte{198, 51, 100, net<<4 | n}), v6: netip.AddrFrom16(v6)}
}

// soa is the zone's SOA record.
func (z *zone) soa() dns.RR {
	return &dns.SOA{
		Hdr:     dns.RR_Header{Name: z.apex, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: z.ttl},
		Ns:      dns.Fqdn("ns." + strings.TrimPrefix(z.apex, ".")),
		Mbox:    dns.Fqdn("hostmaster." + strings.TrimPrefix(z.apex, ".")),
		Serial:  1,
		Refresh: 3600, Retry: 600, Expire: 86400, Minttl: negativeTTL,
	}
}

// answer fills m with the zone's answer to q: the records, NODATA or NXDOMAIN,
// the last two with the SOA (RFC 2308).
func (z *zone) answer(m *dns.Msg, q dns.Question) {
	m.Authoritative = true
	name := strings.ToLower(q.Name)
	h, exists := z.hosts[name]
	if z.pointers[name] != "" {
		exists = true
	}
	ttl := z.ttl
	if z.wildcard != "" && name != z.wildcard && dns.IsSubDomain(z.wildcard, name) {
		h, exists, ttl = address(3, 1), true, 0
	}
	m.Answer = z.records(q, name, h, exists, ttl)
	if len(m.Answer) > 0 {
		return
	}
	if !exists && name != z.apex && name != z.wildcard {
		m.Rcode = dns.RcodeNameError
	}
	soa := z.soa()
	soa.Header().Ttl = negativeTTL
	m.Ns = []dns.RR{soa}
}

// records are the answer records for q, none if there are none of that type.
func (z *zone) records(q dns.Question, name string, h host, exists bool, ttl uint32) []dns.RR {
	hdr := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET, Ttl: ttl}
	switch {
	case q.Qtype == dns.TypeSOA && name == z.apex:
		return []dns.RR{z.soa()}
	case q.Qtype == dns.TypeNS && name == z.apex:
		return []dns.RR{&dns.NS{Hdr: hdr, Ns: dns.Fqdn("ns." + strings.TrimPrefix(z.apex, "."))}}
	case q.Qtype == dns.TypeTXT && (name == Large || z.wildcard != "" && exists && dns.IsSubDomain(z.wildcard, name)):
		return []dns.RR{&dns.TXT{Hdr: hdr, Txt: slices.Repeat([]string{strings.Repeat("t", largeString)}, largeStrings)}}
	case q.Qtype == dns.TypePTR && z.pointers[name] != "":
		return []dns.RR{&dns.PTR{Hdr: hdr, Ptr: z.pointers[name]}}
	case q.Qtype == dns.TypeA && h.v4.IsValid():
		return []dns.RR{&dns.A{Hdr: hdr, A: h.v4.AsSlice()}}
	case q.Qtype == dns.TypeAAAA && h.v6.IsValid():
		return []dns.RR{&dns.AAAA{Hdr: hdr, AAAA: h.v6.AsSlice()}}
	}
	return nil
}
