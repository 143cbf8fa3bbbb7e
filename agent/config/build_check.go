package config

import (
	"math"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"recuse/probe"
)

// checks makes the checks of a service.
func (p *parser) checks(path string, raw []rawCheck) []Check {
	if len(raw) == 0 {
		p.fail(path, nil, "missing; give it at least one check, such as - dns: {}")
	}
	var list []Check
	first := map[string]string{}
	for i, r := range raw {
		at := index(path, i)
		c := p.check(at, r)
		switch where, again := first[c.Name]; {
		case c.Name == "":
		case c.Name == ServicePathName:
			p.fail(at+".name", r.Name, "is the name of the check that is made without being configured; choose another")
		case again:
			p.fail(at+".name", r.Name, "is the name of %s too (%s); give each check its own", where, c.Name)
		default:
			first[c.Name] = at
		}
		list = append(list, c)
	}
	return list
}

// check makes one check.
func (p *parser) check(path string, r rawCheck) Check {
	c := Check{
		Failure:  p.word(path+".failure", r.Failure, DefaultFailure, FailureAuto, FailureDead, FailureSick, FailureInfo),
		Tripwire: p.word(path+".tripwire", r.Tripwire, DefaultTripwire, TripwireKernel, TripwireTCP, TripwireNone),
	}
	p.kind(path, r, &c)
	c.Check = p.schedule(path, r, c.Kind)
	c.Name = p.name(path+".name", r.Name, c.Kind)
	c.Over, c.Rules.Slow = p.slow(path+".slow", r.Slow, c.Timeout)
	return c
}

// kind fills in what a check does, which is the one of four keys that it has.
func (p *parser) kind(path string, r rawCheck, c *Check) {
	var kinds []string
	if r.DNS != nil {
		kinds = append(kinds, CheckDNS)
		c.DNS = p.dns(path+".dns", *r.DNS)
	}
	if r.HTTP != nil {
		kinds = append(kinds, CheckHTTP)
		c.HTTP = p.http(path+".http", *r.HTTP)
	}
	if r.TCP != nil {
		kinds = append(kinds, CheckTCP)
		c.TCP = p.tcp(path+".tcp", *r.TCP)
	}
	if r.Exec != nil {
		kinds = append(kinds, CheckExec)
		c.Exec = p.exec(path+".exec", *r.Exec)
	}
	switch len(kinds) {
	case 0:
		p.fail(path, nil, "says nothing to do; give it dns, http, tcp or exec, such as dns: {}")
	case 1:
		c.Kind = kinds[0]
	default:
		p.fail(path, nil, "has %s; a check does one thing, so make one check of each", strings.Join(kinds, " and "))
	}
}

// schedule returns when a check's probes leave and how they are judged.
func (p *parser) schedule(path string, r rawCheck, kind string) probe.Check {
	interval := p.duration(path+".interval", r.Interval, span{DefaultInterval, 20 * time.Millisecond, time.Hour})
	fast := DefaultFastInterval
	serial := kind == CheckHTTP || kind == CheckExec
	if serial {
		fast = DefaultSlowFast
	}
	return probe.Check{
		Interval: interval,
		Serial:   serial,
		Timeout:  p.duration(path+".timeout", r.Timeout, span{DefaultTimeout, 10 * time.Millisecond, 10 * time.Second}),
		FastInterval: p.duration(path+".fast_interval", r.FastInterval,
			span{min(fast, interval), 5 * time.Millisecond, interval}),
		Rules: probe.Rules{
			Fall:         int(p.number(path+".fall", r.Fall, DefaultFall, 1, 100)),
			Rise:         int(p.number(path+".rise", r.Rise, DefaultRise, 1, 100)),
			UnknownAfter: UnknownAfter,
		},
	}
}

// slow returns the settings of the test for gray failure: when a sample is late
// (0 for auto), and the test's numbers.
func (p *parser) slow(path string, r rawSlow, timeout time.Duration) (
	over time.Duration, s probe.SlowTest) {
	s = probe.SlowTest{
		Tolerate:  p.share(path+".tolerate", r.Tolerate, DefaultTolerate),
		ActAt:     p.share(path+".act_at", r.ActAt, DefaultActAt),
		Threshold: DefaultThreshold,
	}
	if r.Over != nil && r.Over.text != "auto" {
		over = p.duration(path+".over", r.Over, span{0, time.Millisecond, timeout})
	}
	if r.Threshold != nil {
		f, err := strconv.ParseFloat(r.Threshold.text, 64)
		if err != nil || math.IsNaN(f) || f < 1 || f > 1000 {
			p.fail(path+".threshold", r.Threshold, "must be a number from 1 to 1000")
		}
		s.Threshold = f
	}
	if s.Tolerate >= s.ActAt {
		at, value := path+".act_at", r.ActAt
		if value == nil {
			at, value = path+".tolerate", r.Tolerate
		}
		p.fail(at, value, "act_at (%.3g%%) must be above tolerate (%.3g%%)", 100*s.ActAt, 100*s.Tolerate)
	}
	return over, s
}

// http makes what an HTTP check asks for.
func (p *parser) http(path string, r rawHTTPCheck) *HTTPCheck {
	c := &HTTPCheck{Status: []int{DefaultStatus}, Follow: p.boolean(path+".follow", r.Follow)}
	scheme := ""
	if u := p.url(path+".url", r.URL); u != nil {
		scheme, c.URL = u.Scheme, r.URL.text
	}
	c.Trust = p.trust(path, rawTrust{r.ServerName, r.CAFile, r.Pin, r.Insecure}, scheme)
	if r.Body != nil {
		c.Body = r.Body.text
	}
	if r.Status != nil {
		c.Status = nil
	}
	for i, s := range r.Status {
		c.Status = append(c.Status, int(p.number(index(path+".status", i), &s, 0, 100, 599)))
	}
	if len(c.Status) == 0 {
		p.fail(path+".status", nil, "must have at least one status code, such as [200]")
	}
	return c
}

// url returns the URL of a page, nil if it is wrong.
func (p *parser) url(path string, s *scalar) *url.URL {
	if s == nil {
		p.fail(path, nil, "missing; give it a URL, such as http://127.0.0.1:3000/")
		return nil
	}
	u, err := url.Parse(s.text)
	if err != nil || u.Hostname() == "" || u.Port() != "" && !isPort(u.Port()) ||
		u.Scheme != "http" && u.Scheme != "https" {
		p.fail(path, s, "not a URL of a host, beginning with http:// or https://")
		return nil
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && u.Hostname() != "localhost" {
		p.warn(path, s, "has a name for its host, which needs a resolver; use the address, and server_name for the name")
	}
	return u
}

// tcp makes where a TCP check connects to.
func (p *parser) tcp(path string, r rawTCPCheck) *TCPCheck {
	at := path + ".address"
	if r.Address == nil {
		p.fail(at, nil, "missing; give it ADDRESS:PORT, such as 127.0.0.1:853")
		return &TCPCheck{}
	}
	ap, err := netip.ParseAddrPort(r.Address.text)
	if err != nil || ap.Port() == 0 || ap.Addr().IsUnspecified() || ap.Addr().IsMulticast() {
		p.fail(at, r.Address, "must be ADDRESS:PORT, such as 127.0.0.1:853 or [::1]:853")
	}
	return &TCPCheck{Address: ap}
}

// exec makes what an exec check runs.
func (p *parser) exec(path string, r rawExecCheck) *ExecCheck {
	at := path + ".command"
	if len(r.Command) == 0 {
		p.fail(at, nil, "missing; give it a list of the program and its arguments")
	}
	c := &ExecCheck{}
	for i, s := range r.Command {
		switch {
		case strings.ContainsRune(s.text, 0):
			p.fail(index(at, i), &s, "must not hold a zero byte")
		case i == 0 && !filepath.IsAbs(s.text):
			p.fail(index(at, i), &s, "the program must be an absolute path, beginning with /")
		}
		c.Command = append(c.Command, s.text)
	}
	return c
}
