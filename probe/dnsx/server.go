package dnsx

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// defaultPort is the port of DNS over UDP and TCP.
const defaultPort = 53

// Server is where a question goes.
type Server struct {
	// Net is the transport: "udp" or "tcp".
	Net string
	// Addr is the server's address and port.
	Addr netip.AddrPort
}

// String returns the server as ParseServer reads it.
func (s Server) String() string { return s.Net + "://" + s.Addr.String() }

// ParseServer reads a server: an address with or without a port (53 if there
// is none), after udp:// (the default) or tcp://. An error says the rule that
// the text breaks and the way out, but not the text itself.
func ParseServer(s string) (Server, error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		scheme, rest = "udp", s
	}
	switch scheme {
	case "udp", "tcp":
	case "tls", "https":
		return Server{}, fmt.Errorf("%s:// is not supported in this version, use udp:// or tcp://", scheme)
	default:
		return Server{}, fmt.Errorf("unknown scheme %s://, use udp:// or tcp://", scheme)
	}
	addr, err := parseAddrPort(strings.TrimSuffix(rest, "/"))
	if err != nil {
		return Server{}, err
	}
	return Server{Net: scheme, Addr: addr}, nil
}

// parseAddrPort reads an address with or without a port, an IPv6 one with or
// without brackets.
func parseAddrPort(s string) (netip.AddrPort, error) {
	host, port, err := splitPort(s)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, errors.New("not an IP address, names are not looked up; write one such as 127.0.0.1:53 or [::1]:53")
	}
	addr = addr.Unmap()
	if addr.IsUnspecified() || addr.IsMulticast() {
		return netip.AddrPort{}, errors.New("no single server has this address, use the one it listens on, such as 127.0.0.1")
	}
	return netip.AddrPortFrom(addr, port), nil
}

// splitPort parts the host from the port; a bare IPv6 address is all host.
func splitPort(s string) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(s, ':')
	switch {
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		return s[1 : len(s)-1], defaultPort, nil
	case colon < 0, !strings.HasPrefix(s, "[") && strings.IndexByte(s, ':') != colon:
		return s, defaultPort, nil
	}
	n, err := strconv.ParseUint(s[colon+1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("the port is not a number from 1 to 65535, leave it out for 53")
	}
	if inner, ok := strings.CutPrefix(s[:colon], "["); ok {
		return strings.TrimSuffix(inner, "]"), uint16(n), nil
	}
	return s[:colon], uint16(n), nil
}
