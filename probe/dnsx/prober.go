package dnsx

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"recuse/probe"
)

// Config is one question to one server and what a right answer to it is.
type Config struct {
	// Server is asked.
	Server Server
	// Trust says how a server over TLS or HTTPS is known.
	Trust probe.Trust
	// Local is the source address; zero leaves it to the kernel.
	Local netip.Addr
	// Name is asked for. {random} in it stands for 16 fresh hex digits a query.
	Name string
	// Type is the type asked for; zero stands for A.
	Type uint16
	// Rcodes are the right answer codes. None stands for NOERROR and NXDOMAIN,
	// or for NOERROR alone if Answer is set.
	Rcodes []int
	// SOA, if set, is the zone whose SOA must come with a negative answer.
	SOA string
	// Answer, if set, is a value that must be among the answer's records.
	Answer string
	// Alive are questions that the server can answer with no upstream, as NAME
	// TYPE or NAME CLASS TYPE. Nil stands for the usual ones; an empty list asks
	// none.
	Alive []string
}

// Prober asks the question of one Config. It is safe for concurrent use.
type Prober struct {
	config Config
	alive  []plain
	trust  *probe.Verifier // nil: the server proves nothing
}

var _ probe.Prober = (*Prober)(nil)

// New returns a prober for c, or an error that says which rule c breaks.
func New(c Config) (*Prober, error) {
	if portOf(c.Server.Net) == 0 {
		return nil, fmt.Errorf("server: unknown transport %q, use udp, tcp, tls or https", c.Server.Net)
	}
	if !c.Server.Addr.IsValid() || c.Server.Addr.Port() == 0 {
		return nil, fmt.Errorf("server: %q is not an address with a port", c.Server.Addr)
	}
	c.Local = c.Local.Unmap()
	c.Server.Addr = netip.AddrPortFrom(c.Server.Addr.Addr().Unmap(), c.Server.Addr.Port())
	if c.Local.IsValid() && c.Local.Is4() != c.Server.Addr.Addr().Is4() {
		return nil, fmt.Errorf("source %v and server %v are not of one address family", c.Local, c.Server.Addr)
	}
	q, err := withDefaults(c)
	if err != nil {
		return nil, err
	}
	alive, err := parseAlive(c.Alive)
	if err != nil {
		return nil, err
	}
	p := &Prober{config: q, alive: alive}
	if c.Server.Secure() {
		p.trust, err = probe.NewVerifier(c.Trust)
	}
	return p, err
}

// withDefaults checks the question's part of c and fills in what is left out.
func withDefaults(c Config) (Config, error) {
	if err := checkName(c.Name); err != nil {
		return c, fmt.Errorf("name: %q: %w", c.Name, err)
	}
	if c.Type == 0 {
		c.Type = dns.TypeA
	}
	c.Rcodes = slices.Clone(c.Rcodes)
	if len(c.Rcodes) == 0 {
		c.Rcodes = []int{dns.RcodeSuccess}
		if c.Answer == "" {
			c.Rcodes = append(c.Rcodes, dns.RcodeNameError)
		}
	}
	if c.SOA != "" {
		if _, ok := dns.IsDomainName(c.SOA); !ok {
			return c, fmt.Errorf("soa: %q: not a zone's name, write one such as lan", c.SOA)
		}
		c.SOA = dns.CanonicalName(c.SOA)
	}
	return c, nil
}

// Probe asks once and judges the answer. It returns by the deadline of ctx.
func (p *Prober) Probe(ctx context.Context) probe.Result {
	sent := time.Now()
	return p.ask(ctx).since(sent)
}

// ProbePatiently is Probe, but keeps the socket for an answer that comes late.
func (p *Prober) ProbePatiently(ctx context.Context) (probe.Result, probe.Late) {
	sent := time.Now()
	f, late := p.askPatiently(ctx)
	return f.since(sent), late
}

// ask is askPatiently without the patience.
func (p *Prober) ask(ctx context.Context) finding { return patiently(p.askPatiently(ctx)) }

// askPatiently makes a fresh query and sends it the configured way.
func (p *Prober) askPatiently(ctx context.Context) (finding, probe.Late) {
	q, err := newQuery(p.config)
	if err != nil {
		return unmade(err.Error()), nil
	}
	return p.exchangeOver(ctx, q)
}

// exchangeOver sends a query over its server's transport.
func (p *Prober) exchangeOver(ctx context.Context, q query) (finding, probe.Late) {
	switch q.Server.Net {
	case "tcp":
		return overTCP(ctx, q)
	case "tls":
		return overTLS(ctx, q, p.trust)
	case "https":
		return overHTTPS(ctx, q, p.trust), nil
	default:
		return overUDP(ctx, q)
	}
}

// finding is what came of one exchange: a probe.Result without its times.
type finding struct {
	cause probe.Cause
	text  string
	alive bool
	// expires is when the server's certificate ends; zero if none was shown.
	expires time.Time
}

// since returns the result of a probe that left at sent and ends now.
func (f finding) since(sent time.Time) probe.Result {
	return probe.Result{
		Sent: sent, Done: time.Now(),
		Cause: f.cause, Outcome: f.text, Alive: f.alive, Expires: f.expires,
	}
}

// unmade returns the finding of a probe that could not be made.
func unmade(text string) finding { return finding{cause: probe.Unmade, text: text} }

// wrong returns the finding of an answer that is not right.
func wrong(text string) finding { return finding{cause: probe.Wrong, text: text, alive: true} }
