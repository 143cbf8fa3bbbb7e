package config

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"

	"recuse/probe"
)

// maxCA is the size of the largest file of authorities, in bytes; that of a
// whole box is about 250 kB.
const maxCA = 4 << 20

// rawTrust is what several kinds of checks have to say of a server's
// certificate.
type rawTrust struct {
	serverName, caFile *scalar
	pin                []scalar
	insecure           *scalar
}

// trust returns how the server of a check is known, which is reached over a
// transport of that name; it is empty if that is wrong already.
func (p *parser) trust(path string, r rawTrust, transport string) probe.Trust {
	t := probe.Trust{
		ServerName: p.serverName(path+".server_name", r.serverName),
		Insecure:   p.boolean(path+".insecure", r.insecure),
	}
	if transport != "" && transport != "tls" && transport != "https" {
		p.noCertificate(path, r, t.Insecure, transport)
		return t
	}
	t.CA = p.authorities(path+".ca_file", r.caFile)
	t.Pins = p.pins(path+".pin", r.pin)
	if t.Insecure && (r.caFile != nil || r.pin != nil) {
		p.fail(path+".insecure", r.insecure, "takes any certificate, so it excludes ca_file and pin")
	}
	return t
}

// noCertificate reports what is said of the certificate of a server that has
// none. The name may still be that of a page.
func (p *parser) noCertificate(path string, r rawTrust, insecure bool, transport string) {
	const rule = "only for a server that has a certificate, over https:// or (dns) tls://"
	if r.serverName != nil && transport != "http" {
		p.fail(path+".server_name", r.serverName, rule)
	}
	if r.caFile != nil {
		p.fail(path+".ca_file", r.caFile, rule)
	}
	if r.pin != nil {
		p.fail(path+".pin", nil, rule)
	}
	if insecure {
		p.fail(path+".insecure", r.insecure, rule)
	}
}

// serverName returns the name of a server: a host name or an address.
func (p *parser) serverName(path string, s *scalar) string {
	if s == nil {
		return ""
	}
	name := strings.TrimSuffix(s.text, ".")
	if a, err := netip.ParseAddr(name); err == nil && a.Zone() == "" {
		return a.String()
	}
	if badName(name) != "" || name == "" || strings.ContainsFunc(name, notInName) {
		p.fail(path, s, "must be the name that the server's certificate is for, such as dns.example, or an address")
		return ""
	}
	return name
}

// pins returns the keys that a server may have.
func (p *parser) pins(path string, raw []scalar) []string {
	if raw != nil && len(raw) == 0 {
		p.fail(path, nil, "must have at least one pin; leave it out to go by the authority")
	}
	var list []string
	for i, s := range raw {
		if err := probe.CheckPin(s.text); err != nil {
			p.fail(index(path, i), &s, "%s", err)
		}
		list = append(list, s.text)
	}
	return list
}

// authorities returns what a file of authorities holds. It is read with the
// configuration, so that a reload sees that it has changed.
func (p *parser) authorities(path string, s *scalar) string {
	name := p.file(path, s, "")
	if name == "" {
		return ""
	}
	text, err := readAuthorities(name)
	if err != nil {
		p.fail(path, s, "%s", err)
	}
	return text
}

// readAuthorities returns the PEM text of a file.
func readAuthorities(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", plain(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("is no regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", plain(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCA+1))
	if err != nil {
		return "", plain(err)
	}
	if len(b) > maxCA {
		return "", errors.New("is larger than 4 MiB")
	}
	return string(b), probe.CheckCA(string(b))
}
