package dnsx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/miekg/dns"

	"recuse/probe"
)

// aliveByDefault are questions that one resolver or another answers with no
// upstream; none answers all of them.
var aliveByDefault = [...]string{"id.server CH TXT", ". NS", "localhost. A", "healthcheck.adguardhome.test. A"}

// plain is a question that is asked only to see whether anything comes back.
type plain struct {
	text        string
	name        string
	class, kind uint16
}

// parsePlain reads NAME TYPE or NAME CLASS TYPE. An error says the rule and the
// way out, but not the text itself.
func parsePlain(s string) (plain, error) {
	parts := strings.Fields(s)
	q := plain{text: strings.Join(parts, " "), class: dns.ClassINET}
	if len(parts) == 3 {
		class, ok := dns.StringToClass[strings.ToUpper(parts[1])]
		if !ok {
			return plain{}, errors.New("not a class, use IN or CH")
		}
		q.class = class
		parts = []string{parts[0], parts[2]}
	}
	if len(parts) != 2 {
		return plain{}, errors.New(`not NAME TYPE or NAME CLASS TYPE, such as ". NS" or "id.server CH TXT"`)
	}
	q.name = dns.Fqdn(parts[0])
	if _, ok := dns.IsDomainName(parts[0]); !ok || strings.ContainsAny(parts[0], "{}") {
		return plain{}, errors.New("not a domain name")
	}
	var err error
	q.kind, err = ParseType(parts[1])
	return q, err
}

// parseAlive reads the questions of a configuration; nil stands for the default.
func parseAlive(texts []string) ([]plain, error) {
	if texts == nil {
		texts = aliveByDefault[:]
	}
	var list []plain
	for i, text := range texts {
		q, err := parsePlain(text)
		if err != nil {
			return nil, fmt.Errorf("alive[%d]: %q: %w", i, text, err)
		}
		list = append(list, q)
	}
	return list, nil
}

// query returns the question as it leaves.
func (q plain) query(c Config) (query, error) {
	m := q.message(q.name)
	m.SetEdns0(ednsSize, false)
	return pack(c, m)
}

// message returns the question, for a name that may be the fresh form of its
// own. One for the root does not ask for recursion: every resolver has the root
// in it and needs to ask nobody.
func (q plain) message(name string) *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(name, q.kind)
	m.Question[0].Qclass = q.class
	m.RecursionDesired = name != "."
	return m
}

var (
	_ probe.Signer  = (*Prober)(nil)
	_ probe.Patient = (*Prober)(nil)
)

// Signs returns what else the server is asked when the prober's question is
// late: what it can answer with no upstream, over the same transport, and for
// one asked over UDP the prober's own question over TCP. The latter goes second,
// for it tells a limit of rates and costs nothing of the budget.
func (p *Prober) Signs() []probe.Sign {
	over := p.config.Server.Net
	var list []probe.Sign
	for _, q := range p.alive {
		list = append(list, probe.Sign{Paid: over == "udp", Look: func(ctx context.Context) string {
			return p.look(ctx, q)
		}})
	}
	if over == "udp" {
		at := min(1, len(list))
		list = append(list[:at:at], append([]probe.Sign{{Look: p.lookTCP}}, list[at:]...)...)
	}
	return list
}

// look asks one of the plain questions.
func (p *Prober) look(ctx context.Context, q plain) string {
	wire, err := q.query(p.config)
	if err != nil {
		return "" // It could not be asked, which shows nothing.
	}
	wire.any = true
	if f := patiently(p.exchangeOver(ctx, wire)); f.alive {
		return "still answers " + q.text
	}
	return ""
}

// lookTCP asks the prober's own question over TCP.
func (p *Prober) lookTCP(ctx context.Context) string {
	other := *p
	other.config.Server.Net = "tcp"
	switch f := other.ask(ctx); {
	case f.cause == probe.Passed:
		return "answers over TCP, not over UDP: rate limit or loss"
	case f.alive:
		return "over TCP: " + f.text
	}
	return ""
}
