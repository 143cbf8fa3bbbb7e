package config

import (
	"strings"

	"recuse/probe/dnsx"
)

// random is what stands in a name for a fresh label part, and label is what it
// becomes in every query: 16 hex digits.
const (
	random = "{random}"
	label  = "0123456789abcdef"
)

// dns makes the question of a DNS check.
func (p *parser) dns(path string, r rawDNS) *dnsx.Config {
	c := &dnsx.Config{
		Server: p.server(path+".server", r.Server),
		Name:   p.question(path+".name", r.Name),
		Rcodes: p.rcodes(path+".rcode", r.Rcode, r.Answer != nil),
	}
	c.Trust = p.trust(path, rawTrust{r.ServerName, r.CAFile, r.Pin, r.Insecure}, c.Server.Net)
	kind := orDefault(r.Type, DefaultDNSType)
	var err error
	if c.Type, err = dnsx.ParseType(kind.text); err != nil {
		p.fail(path+".type", kind, "%s", err)
	}
	c.SOA = p.soa(path+".soa", r, c.Name)
	c.Answer = p.dnsAnswer(path+".answer", r.Answer)
	c.Alive = p.alive(path+".alive", r.Alive)
	return c
}

// orDefault returns a value, or the default where it is absent.
func orDefault(s *scalar, def string) *scalar {
	if s == nil {
		return &scalar{text: def}
	}
	return s
}

// server returns the server that a check asks.
func (p *parser) server(path string, s *scalar) dnsx.Server {
	s = orDefault(s, DefaultDNSServer)
	server, err := dnsx.ParseServer(s.text)
	if err != nil {
		p.fail(path, s, "%s", err)
	}
	return server
}

// question returns the name that is asked for, empty if wrong.
func (p *parser) question(path string, s *scalar) string {
	s = orDefault(s, DefaultDNSName)
	name := strings.ReplaceAll(s.text, random, label)
	switch why := badName(name); {
	case strings.ContainsAny(name, "{}"):
		p.fail(path, s, "the only thing in braces is {random}")
	case why != "":
		p.fail(path, s, "not a DNS name: %s", why)
	case name == s.text:
		p.warn(path, s, "has no {random}, so that an answer out of a cache passes for a healthy resolver")
		fallthrough
	default:
		return s.text
	}
	return ""
}

// badName returns what is wrong with a DNS name, or nothing (RFC 1035 section
// 2.3.4; any printable character but a backslash may be in a label).
func badName(name string) string {
	const longest, longestLabel = 253, 63
	if name == "." {
		return "" // the root
	}
	name = strings.TrimSuffix(name, ".")
	switch {
	case name == "":
		return "it is empty"
	case len(name) > longest:
		return "longer than 253 characters"
	}
	for l := range strings.SplitSeq(name, ".") {
		switch {
		case l == "":
			return "an empty label"
		case len(l) > longestLabel:
			return "a label longer than 63 characters"
		case strings.ContainsFunc(l, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }):
			return "a label with a space, a backslash, or a character that is not ASCII"
		}
	}
	return ""
}

// rcodes returns the codes that pass.
func (p *parser) rcodes(path string, raw []scalar, answer bool) []int {
	if raw == nil {
		raw = defaultRcodes(answer)
	}
	if len(raw) == 0 {
		p.fail(path, nil, "must have at least one code, such as [NOERROR, NXDOMAIN]")
	}
	var list []int
	for i, s := range raw {
		code, err := dnsx.ParseRcode(s.text)
		if err != nil {
			p.fail(index(path, i), &s, "%s", err)
			continue
		}
		list = append(list, code)
	}
	return list
}

// soa returns the zone whose SOA must come with NXDOMAIN: the name asked for
// lies in it.
func (p *parser) soa(path string, r rawDNS, name string) string {
	if r.SOA == nil {
		return ""
	}
	if why := badName(r.SOA.text); why != "" {
		p.fail(path, r.SOA, "not a DNS name: %s", why)
		return ""
	}
	if name != "" && !isWithin(name, r.SOA.text) {
		p.fail(path, r.SOA, "the name asked for, %s, does not lie in this zone", name)
	}
	return r.SOA.text
}

// isWithin reports whether a name lies in a zone or is its apex.
func isWithin(name, zone string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	zone = strings.ToLower(strings.TrimSuffix(zone, "."))
	return zone == "" || strings.HasSuffix("."+name, "."+zone)
}

// dnsAnswer returns the value that must be in the answer.
func (p *parser) dnsAnswer(path string, s *scalar) string {
	if s == nil {
		return ""
	}
	if strings.TrimSpace(s.text) == "" {
		p.fail(path, s, "must be a value, such as 10.1.1.236; leave it out to take any")
	}
	return s.text
}

// alive returns the questions that need no upstream, as NAME TYPE or NAME
// CLASS TYPE. An empty list asks none.
func (p *parser) alive(path string, raw []scalar) []string {
	if raw == nil {
		return defaultAlive()
	}
	list := []string{}
	for i, s := range raw {
		if !isQuestion(s.text) {
			p.fail(index(path, i), &s, `must be NAME TYPE or NAME CLASS TYPE, such as ". NS" or "id.server CH TXT"`)
			continue
		}
		list = append(list, strings.Join(strings.Fields(s.text), " "))
	}
	return list
}

// isQuestion reports whether a text is a name, IN or CH or nothing, and a type.
func isQuestion(s string) bool {
	parts := strings.Fields(s)
	if len(parts) == 3 && (parts[1] == "IN" || parts[1] == "CH") {
		parts = []string{parts[0], parts[2]}
	}
	if len(parts) != 2 || badName(parts[0]) != "" {
		return false
	}
	_, err := dnsx.ParseType(parts[1])
	return err == nil
}
