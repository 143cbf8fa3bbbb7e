package dnsx

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"recuse/probe"
)

// ednsSize is the UDP payload that a query says it can take (DNS flag day 2020:
// what passes nearly everywhere without fragments).
const ednsSize = 1232

// headerSize is the size of a DNS header (RFC 1035 section 4.1.1).
const headerSize = 12

// query is one question as it leaves, with the rules for its answer.
type query struct {
	Config
	id       uint16
	question dns.Question // its fresh part filled in
	wire     []byte
	any      bool                   // whatever comes back is an answer
	look     func(*dns.Msg) finding // judges an answer in place of the Config
}

// newQuery returns a query with a fresh id and a fresh name.
func newQuery(c Config) (query, error) {
	name, err := fresh(c.Name)
	if err != nil {
		return query{}, err
	}
	m := new(dns.Msg)
	m.SetQuestion(name, c.Type)
	m.SetEdns0(ednsSize, false)
	return pack(c, m)
}

// pack returns the query that asks what m does with a fresh id.
func pack(c Config, m *dns.Msg) (query, error) {
	m.Id = uint16(rand.Uint32()) // ChaCha8, seeded by the kernel for each process
	wire, err := m.Pack()
	if err != nil {
		return query{}, fmt.Errorf("failed to write the query for %s: %w", m.Question[0].Name, err)
	}
	// An answer has the name as it is on the wire, its escapes resolved.
	var sent dns.Msg
	if err := sent.Unpack(wire); err != nil {
		return query{}, fmt.Errorf("failed to read the query for %s: %w", m.Question[0].Name, err)
	}
	return query{Config: c, id: m.Id, question: sent.Question[0], wire: wire}, nil
}

// read tells whether a message that came from an address answers the query,
// and what it shows. A message that is no answer to it shows nothing.
func (q query) read(raw []byte, from netip.AddrPort) (finding, bool) {
	if !q.headed(raw) {
		return finding{}, false
	}
	if q.any {
		return finding{cause: probe.Passed, alive: true}, true
	}
	ours := sameServer(from, q.Server.Addr)
	var m dns.Msg
	if err := m.Unpack(raw); err != nil {
		return wrong("malformed answer"), ours
	}
	if !q.questioned(&m) {
		return finding{}, false
	}
	if !ours {
		// Nobody else knows the id, the port and the name: it is the server, which
		// answers from an address that a client would not take.
		return wrong(elsewhere(from, q.Server.Addr)), len(m.Question) == 1
	}
	if q.look != nil {
		return q.look(&m), true
	}
	return q.judge(&m), true
}

// headed tells whether raw begins like an answer to the query.
func (q query) headed(raw []byte) bool {
	const qr = 0x80
	return len(raw) >= headerSize && binary.BigEndian.Uint16(raw) == q.id && raw[2]&qr != 0
}

// questioned tells whether m repeats the question, in any case of letters. A
// server that rejects a query may leave the question out.
func (q query) questioned(m *dns.Msg) bool {
	if len(m.Question) == 0 {
		return true
	}
	got, want := m.Question[0], q.question
	return len(m.Question) == 1 && got.Qtype == want.Qtype && got.Qclass == want.Qclass &&
		strings.EqualFold(got.Name, want.Name)
}

// elsewhere says that an answer came from another address than was asked.
func elsewhere(from, asked netip.AddrPort) string {
	if from.Port() == asked.Port() {
		return fmt.Sprintf("answer from %v instead of %v", from.Addr(), asked.Addr())
	}
	return fmt.Sprintf("answer from %v instead of %v", from, asked)
}
