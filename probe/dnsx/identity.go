package dnsx

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"recuse/probe"
)

// identityMax is the longest identity that is shown whole, in bytes: one string
// of a TXT record (RFC 1035 section 3.3).
const identityMax = 255

// Inquiry is one way to ask a server which node it is.
type Inquiry struct {
	plain
	nsid bool // the identity is an EDNS option, not an answer's record
}

// The names that servers answer of themselves, in class CH.
const (
	idServer     = "id.server"     // RFC 4892 section 2
	hostnameBind = "hostname.bind" // what BIND had before, and much else has
)

// Inquiries returns the ways that servers have of their own, the best first:
// NSID (RFC 5001), with a question that needs no upstream, then id.server and
// hostname.bind. The names are asked for without EDNS, for servers that know
// none.
func Inquiries() []Inquiry {
	return []Inquiry{
		{plain{"NSID", ".", dns.ClassINET, dns.TypeNS}, true},
		ofServer(idServer),
		ofServer(hostnameBind),
	}
}

// ofServer returns the inquiry for a name of the server itself.
func ofServer(name string) Inquiry {
	return Inquiry{plain{name, dns.Fqdn(name), dns.ClassCHAOS, dns.TypeTXT}, false}
}

// NewInquiry returns the inquiry for a name that each node answers with a value
// of its own; {random} in it stands for 16 fresh hex digits a question. The
// names of the server itself are asked for in class CH, whatever the type. An
// error says the rule and the way out, but not the name.
func NewInquiry(name string, kind uint16) (Inquiry, error) {
	if own := strings.ToLower(strings.TrimSuffix(name, ".")); own == idServer || own == hostnameBind {
		return ofServer(own), nil
	}
	if kind == dns.TypeANY {
		return Inquiry{}, errors.New("no record has the type ANY, use one such as TXT or A")
	}
	if err := checkName(name); err != nil {
		return Inquiry{}, err
	}
	return Inquiry{plain{name + " " + dns.Type(kind).String(), name, dns.ClassINET, kind}, false}, nil
}

// String returns what is asked, for people.
func (i Inquiry) String() string { return i.text }

// Chaos tells whether the question is in class CH. BIND answers those of one
// /24 or /56 over UDP only three times a second, unless it is configured.
func (i Inquiry) Chaos() bool { return i.class == dns.ClassCHAOS }

// query returns the question as it leaves.
func (i Inquiry) query(c Config) (query, error) {
	name, err := fresh(i.name)
	if err != nil {
		return query{}, err
	}
	m := i.message(name)
	if i.nsid {
		m.SetEdns0(ednsSize, false)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}
	}
	return pack(c, m)
}

// identity returns what an answer says of the node, "" if nothing.
func (i Inquiry) identity(m *dns.Msg) string {
	if i.nsid {
		return shown(nsid(m))
	}
	var values []string
	for _, rr := range m.Answer {
		if h := rr.Header(); h.Rrtype == i.kind && h.Class == i.class {
			values = append(values, dataOf(rr))
		}
	}
	slices.Sort(values) // the order of a record set means nothing
	return shown(strings.Join(values, " "))
}

// shown returns an identity as it is shown. Blanks alone are none. What is cut
// off a long one tells nodes apart by its checksum.
func shown(identity string) string {
	if strings.TrimSpace(identity) == "" {
		return ""
	}
	if text := probe.Printable(identity, math.MaxInt); len(text) <= identityMax {
		return text
	}
	return fmt.Sprintf("%s%08x", probe.Printable(identity, identityMax), crc32.ChecksumIEEE([]byte(identity)))
}

// nsid returns the server's identifier in m, as text or as hex digits: it is
// any bytes (RFC 5001 section 2.3). "" stands for none.
func nsid(m *dns.Msg) string {
	opt := m.IsEdns0()
	if opt == nil {
		return ""
	}
	for _, o := range opt.Option {
		id, ok := o.(*dns.EDNS0_NSID)
		if !ok || id.Nsid == "" {
			continue
		}
		text, err := hex.DecodeString(id.Nsid)
		odd := func(b byte) bool { return b < ' ' || b > '~' }
		if err == nil && !slices.ContainsFunc(text, odd) && len(bytes.TrimSpace(text)) > 0 {
			return string(text)
		}
		return "0x" + id.Nsid
	}
	return ""
}
