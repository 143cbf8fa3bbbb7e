package load

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// udpSize is the answer's size that questions allow: no path fragments it.
const udpSize = 1232

// headerSize is the size of a DNS message's header (RFC 1035 section 4.1.1).
const headerSize = 12

// template is the packed question of one entry of a mix. Asking it is copying it
// and writing the message's number and the random labels into the copy.
type template struct {
	entry
	wire     []byte
	question int   // end of the question section
	random   []int // where the random labels' 16 digits are
}

// templates packs a mix.
func templates(m Mix) ([]template, error) {
	entries, err := m.entries()
	if err != nil {
		return nil, err
	}
	all := make([]template, len(entries))
	for i, e := range entries {
		if all[i], err = newTemplate(e); err != nil {
			return nil, fmt.Errorf("mix[%d]: %w", i, err)
		}
	}
	return all, nil
}

// marker is a number whose digits no real name holds at a random label's place.
const marker = 0xfedcba9876543210

// newTemplate packs one question: EDNS with a size that no path fragments, and a
// request for the server's identity (RFC 5001).
func newTemplate(e entry) (template, error) {
	m := new(dns.Msg)
	m.SetQuestion(e.fill(marker), e.qtype)
	m.SetEdns0(udpSize, false)
	opt := m.IsEdns0()
	opt.Option = append(opt.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
	wire, err := m.Pack()
	if err != nil {
		return template{}, fmt.Errorf("%q: %w", e.name, err)
	}
	t := template{entry: e, wire: wire}
	t.question, _ = skipName(wire, headerSize)
	t.question += 4 // type and class
	if strings.Contains(e.name, random) {
		digits := fmt.Appendf(nil, "%016x", uint64(marker))
		for at := headerSize; ; {
			i := bytes.Index(wire[at:], digits)
			if i < 0 {
				break
			}
			t.random = append(t.random, at+i)
			at += i + len(digits)
		}
	}
	return t, nil
}

// put appends the message with its number and random labels.
func (t *template) put(b []byte, id uint16, n uint64) []byte {
	at := len(b)
	b = append(b, t.wire...)
	binary.BigEndian.PutUint16(b[at:], id)
	for _, r := range t.random {
		hex16(b[at+r:], n)
	}
	return b
}

// hex16 writes a number's 16 hexadecimal digits.
func hex16(b []byte, n uint64) {
	const digits = "0123456789abcdef"
	for i := 15; i >= 0; i-- {
		b[i] = digits[n&15]
		n >>= 4
	}
}

// answeredBy reports whether a message is the answer to this question: the
// number, the response bit and the question fit. Anything else is ignored, as a
// resolver library does.
func (t *template) answeredBy(m []byte, id uint16, n uint64) bool {
	if len(m) < t.question || binary.BigEndian.Uint16(m) != id || m[2]&0x80 == 0 || binary.BigEndian.Uint16(m[4:]) != 1 {
		return false
	}
	var asked [512]byte
	want := t.put(asked[:0], id, n)[headerSize:t.question]
	return bytes.EqualFold(want, m[headerSize:t.question])
}

// reply is what an answer says that matters here.
type reply struct {
	rcode     int
	truncated bool
	node      []byte // its NSID, in the message's memory; nil if it has none
}

// parse reads an answer whose question has been checked. What is cut off or
// malformed after the header only hides the identity.
func parse(m []byte) reply {
	r := reply{rcode: int(m[3] & 0x0f), truncated: m[2]&0x02 != 0}
	at, ok := skipName(m, headerSize)
	at += 4
	records := 0
	for _, count := range []int{6, 8, 10} {
		records += int(binary.BigEndian.Uint16(m[count:]))
	}
	for ; ok && records > 0; records-- {
		if at, ok = skipName(m, at); !ok || at+10 > len(m) {
			break
		}
		length := int(binary.BigEndian.Uint16(m[at+8:]))
		end := at + 10 + length
		if end > len(m) {
			break
		}
		if binary.BigEndian.Uint16(m[at:]) == dns.TypeOPT {
			r.rcode |= int(m[at+4]) << 4 // RFC 6891 section 6.1.3
			r.node = nsid(m[at+10 : end])
			break
		}
		at = end
	}
	return r
}

// nsid finds the server's identity among EDNS options (RFC 6891 section 6.1.2).
func nsid(options []byte) []byte {
	for len(options) >= 4 {
		end := 4 + int(binary.BigEndian.Uint16(options[2:]))
		if end > len(options) {
			return nil
		}
		if binary.BigEndian.Uint16(options) == dns.EDNS0NSID && end > 4 {
			return options[4:end]
		}
		options = options[end:]
	}
	return nil
}

// skipName returns where a name ends (RFC 1035 section 4.1.4).
func skipName(m []byte, at int) (int, bool) {
	for at < len(m) {
		switch n := int(m[at]); {
		case n == 0:
			return at + 1, true
		case n&0xc0 == 0xc0:
			return at + 2, at+2 <= len(m)
		default:
			at += 1 + n
		}
	}
	return at, false
}
