package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"recuse/probe"
)

// Config is one page and what a right answer is.
type Config struct {
	// URL is asked for. A host name in it needs a resolver.
	URL string
	// Status are the right status codes; none stands for 200.
	Status []int
	// Body, if set, is a text that must occur within the first 5,120 bytes.
	Body string
	// Follow makes redirects be followed, five at most.
	Follow bool
	// Trust says how the server is known. Its ServerName is the Host as well,
	// with http:// too.
	Trust probe.Trust
}

// Prober asks for the page of one Config. It is safe for concurrent use.
type Prober struct {
	config   Config
	url      string // as it is asked for: with the server's name, if one is set
	as, host string // connections to the address as go to host
	verifier *probe.Verifier
}

var _ probe.Prober = (*Prober)(nil)

// New returns a prober for c, or an error that says which rule c breaks.
func New(c Config) (*Prober, error) {
	u, err := parseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %q: %w", c.URL, err)
	}
	c.Status = slices.Clone(c.Status)
	if len(c.Status) == 0 {
		c.Status = []int{http.StatusOK}
	}
	p := &Prober{config: c, host: net.JoinHostPort(u.Hostname(), portOf(u))}
	if name := c.Trust.ServerName; name != "" {
		u.Host = hostPort(name, u.Port())
	}
	p.url, p.as = u.String(), net.JoinHostPort(u.Hostname(), portOf(u))
	// The name is in the URL from here on, where redirects may change it.
	c.Trust.ServerName = ""
	if p.verifier, err = probe.NewVerifier(c.Trust); err != nil {
		return nil, err
	}
	return p, nil
}

// parseURL reads the URL of a page.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("not a URL of a host, beginning with http:// or https://")
	}
	u.Fragment = "" // It is never sent.
	return u, nil
}

// portOf returns the port of a URL.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// hostPort returns the host part of a URL; the port may be empty.
func hostPort(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return "[" + host + "]"
	}
	return host
}
