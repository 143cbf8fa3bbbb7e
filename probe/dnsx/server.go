package dnsx

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The ports of DNS over UDP and TCP, over TLS (RFC 7858 section 3.1), and over
// HTTPS (RFC 8484).
const (
	defaultPort      = 53
	defaultTLSPort   = 853
	defaultHTTPSPort = 443
)

// defaultPath is where DNS over HTTPS is usually served.
const defaultPath = "/dns-query"

// Server is where a question goes.
type Server struct {
	// Net is the transport: "udp", "tcp", "tls" or "https".
	Net string
	// Addr is the server's address and port.
	Addr netip.AddrPort
	// Path is what is asked for over HTTPS; empty stands for /dns-query.
	Path string
}

// String returns the server as ParseServer reads it.
func (s Server) String() string { return s.Net + "://" + s.Addr.String() + s.Path }

// Secure tells whether the server proves with a certificate who it is.
func (s Server) Secure() bool { return s.Net == "tls" || s.Net == "https" }

// portOf returns the usual port of a transport, zero if there is no such one.
func portOf(network string) uint16 {
	switch network {
	case "udp", "tcp":
		return defaultPort
	case "tls":
		return defaultTLSPort
	case "https":
		return defaultHTTPSPort
	}
	return 0
}

// ParseServer reads a server: an address with or without a port, after udp://
// (the default), tcp://, tls:// or https://; the latter may have a path. An
// error says the rule that the text breaks and the way out, but not the text
// itself.
func ParseServer(s string) (Server, error) {
	network, host, found := strings.Cut(s, "://")
	if !found {
		network, host = "udp", s
	}
	server := Server{Net: network}
	port := portOf(network)
	if port == 0 {
		return Server{}, fmt.Errorf("unknown scheme %s://, use udp://, tcp://, tls:// or https://", network)
	}
	var err error
	if network == "https" {
		if host, server.Path, err = splitPath(host); err != nil {
			return Server{}, err
		}
	}
	server.Addr, err = parseAddrPort(strings.TrimSuffix(host, "/"), port)
	if errors.Is(err, errNoAddress) && server.Secure() {
		err = fmt.Errorf("not an IP address, names are not looked up; write the server's address, "+
			"such as %s://127.0.0.1, and its name as server_name", network)
	}
	if err != nil {
		return Server{}, err
	}
	return server, nil
}

// splitPath parts the path of a URL from its host. The template that RFC 8484
// section 4.1 writes at its end is of no use to POST.
func splitPath(s string) (host, path string, err error) {
	host, path, found := strings.Cut(s, "/")
	if !found {
		return host, defaultPath, nil
	}
	path = "/" + strings.TrimSuffix(path, "{?dns}")
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`?#{}\"<>`, r) }
	if strings.ContainsFunc(path, odd) {
		return "", "", errors.New("the path must be one such as /dns-query, without ? or #")
	}
	return host, path, nil
}

// errNoAddress is that a host is a name, or nothing at all.
var errNoAddress = errors.New("not an IP address, names are not looked up; write one such as 127.0.0.1:53 or [::1]:53")

// parseAddrPort reads an address with or without a port, an IPv6 one with or
// without brackets.
func parseAddrPort(s string, defaultPort uint16) (netip.AddrPort, error) {
	host, port, err := splitPort(s, defaultPort)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, errNoAddress
	}
	addr = addr.Unmap()
	if addr.IsUnspecified() || addr.IsMulticast() {
		return netip.AddrPort{}, errors.New("no single server has this address, use the one it listens on, such as 127.0.0.1")
	}
	if (addr.Is6() && addr.IsLinkLocalUnicast()) != (addr.Zone() != "") {
		return netip.AddrPort{}, errors.New("a link-local address, and no other, needs its link, such as fe80::1%eth0")
	}
	return netip.AddrPortFrom(addr, port), nil
}

// splitPort parts the host from the port; a bare IPv6 address is all host.
func splitPort(s string, defaultPort uint16) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(s, ':')
	switch {
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		return s[1 : len(s)-1], defaultPort, nil
	case colon < 0, !strings.HasPrefix(s, "[") && strings.IndexByte(s, ':') != colon:
		return s, defaultPort, nil
	}
	n, err := strconv.ParseUint(s[colon+1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("the port is not a number from 1 to 65535, leave it out for %d", defaultPort)
	}
	if inner, ok := strings.CutPrefix(s[:colon], "["); ok {
		return strings.TrimSuffix(inner, "]"), uint16(n), nil
	}
	return s[:colon], uint16(n), nil
}

// sameServer tells whether two addresses are one. A link in them may be given
// by its name or its number (RFC 4007 section 11.2).
func sameServer(a, b netip.AddrPort) bool {
	if a == b || a.Addr().Zone() == "" {
		return a == b
	}
	zoneless := func(p netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(p.Addr().WithZone(""), p.Port()) }
	return zoneless(a) == zoneless(b) && link(a.Addr().Zone()) == link(b.Addr().Zone())
}

// link returns the number of a link of that name or number; 0 stands for none.
func link(zone string) int {
	if l, err := net.InterfaceByName(zone); err == nil {
		return l.Index
	}
	n, _ := strconv.Atoi(zone)
	return n
}
