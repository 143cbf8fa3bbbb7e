package config

import (
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"unicode"
)

// config makes the configuration of a whole file.
func (p *parser) config(raw rawConfig) *Config {
	c := &Config{
		Node:     p.node("node", raw.Node),
		StateDir: p.file("state_dir", raw.StateDir, DefaultStateDir),
		Control: Control{
			Socket: p.socket("control.socket", raw.Control.Socket),
			Group:  p.group("control.group", raw.Control.Group),
		},
		HTTP: HTTP{Listen: p.listen("http.listen", raw.HTTP.Listen)},
		Log: Log{
			Level:  p.level("log.level", raw.Log.Level),
			Format: p.word("log.format", raw.Log.Format, DefaultFormat, LogText, LogJSON),
		},
	}
	p.bgp(c, raw.BGP)
	p.services(c, raw.Services)
	p.cross(c, raw)
	return c
}

// node returns the name of the node, by default that of the host.
func (p *parser) node(path string, s *scalar) string {
	if s == nil {
		host, err := os.Hostname()
		if err != nil {
			p.fail(path, s, "missing, and the host name cannot be read: %s", err)
		}
		return host
	}
	const most = 253 // the longest host name there is
	strange := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if s.text == "" || len(s.text) > most || strings.ContainsFunc(s.text, strange) {
		p.fail(path, s, "must have 1 to %d printable characters and no space", most)
	}
	return s.text
}

// socket returns the path of the control socket. The kernel's sun_path has
// 108 bytes, the last of which is zero.
func (p *parser) socket(path string, s *scalar) string {
	const most = 107
	name := p.file(path, s, DefaultSocket)
	if len(name) > most {
		p.fail(path, s, "must be no longer than %d bytes, the most that a Unix socket can have", most)
	}
	return name
}

// group returns the name of the group that may use the control socket; empty is
// for root only.
func (p *parser) group(path string, s *scalar) string {
	if s == nil {
		return DefaultGroup
	}
	if strings.ContainsFunc(s.text, notInName) {
		p.fail(path, s, "must be the name of a group; none, or one that does not exist, leaves the socket to root")
	}
	return s.text
}

// listen returns the address of the HTTP server, host:port, where the host may
// be absent for all addresses. Empty is off.
func (p *parser) listen(path string, s *scalar) string {
	if s == nil {
		return DefaultListen
	}
	if s.text == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(s.text)
	if err == nil && (host == "" || host == "localhost" || isAddr(host)) && isPort(port) {
		return s.text
	}
	p.fail(path, s, `must be ADDRESS:PORT, such as %s, or "" for off`, DefaultListen)
	return ""
}

// isAddr reports whether a text is an IP address.
func isAddr(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isPort reports whether a text is a port that one can connect to.
func isPort(s string) bool {
	ap, err := netip.ParseAddrPort("0.0.0.0:" + s)
	return err == nil && ap.Port() != 0
}

// level returns the least level that is logged.
func (p *parser) level(path string, s *scalar) slog.Level {
	var l slog.Level
	word := p.word(path, s, DefaultLevel, "debug", "info", "warn", "error")
	if err := l.UnmarshalText([]byte(word)); err != nil {
		p.fail(path, s, "not a level: %s", err)
	}
	return l
}
