package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// parser takes the fields of one line in turn and keeps the first error.
type parser struct {
	row   []string
	known map[string]string // one copy of each text, for most repeat
	at    int
	err   error
}

// record reads a whole line, in the order of columns.
func (p *parser) record() Record {
	var r Record
	r.Seq, r.Client = p.number(), p.number()
	r.Intended, r.Sent, r.Ended = p.time(), p.time(), p.time()
	r.Outcome, r.Rcode = Outcome(p.text()), p.number()
	r.Server, r.Node = p.text(), p.text()
	r.Attempts, r.Resets = p.number(), p.number()
	r.Via, r.Port = Via(p.text()), p.number()
	r.Name, r.Type = p.text(), p.qtype()
	r.Error = p.text()
	return r
}

// next is the next field as it is.
func (p *parser) next() string {
	s := p.row[p.at]
	p.at++
	return s
}

// fail keeps the first error, with the column it is about.
func (p *parser) fail(s, rule string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: %q: must be %s", columns[p.at-1], s, rule)
	}
}

// text is the next field, sharing the memory of its equals.
func (p *parser) text() string {
	s := p.next()
	if c, ok := p.known[s]; ok {
		return c
	}
	c := strings.Clone(s)
	if len(p.known) < maxKnown {
		p.known[c] = c
	}
	return c
}

// maxKnown bounds the texts that are remembered: random names never repeat.
const maxKnown = 4096

// number is the next field as a number.
func (p *parser) number() int {
	s := p.next()
	n, err := strconv.Atoi(s)
	if err != nil {
		p.fail(s, "a number")
	}
	return n
}

// time is the next field as a time; the zero time if it is empty.
func (p *parser) time() time.Time {
	s := p.next()
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		p.fail(s, "a time as RFC 3339 has it")
	}
	return t.UTC()
}

// qtype is the next field as a record type.
func (p *parser) qtype() uint16 {
	s := p.next()
	if t, ok := dns.StringToType[s]; ok {
		return t
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "TYPE"), 10, 16)
	if err != nil || !strings.HasPrefix(s, "TYPE") {
		p.fail(s, "a record type")
	}
	return uint16(n)
}
