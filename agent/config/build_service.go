package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// services fills in the list services.
func (p *parser) services(c *Config, raw []rawService) {
	if len(raw) == 0 {
		p.fail("services", nil, "missing; name at least one service, with an address and a check")
	}
	for i, r := range raw {
		c.Services = append(c.Services, p.service(index("services", i), r))
	}
}

// service makes one of services.
func (p *parser) service(path string, r rawService) Service {
	link := p.link(path+".link", r.Link)
	s := Service{
		Link:      link,
		Name:      p.name(path+".name", r.Name, link.Name),
		Addresses: p.addresses(path+".addresses", r.Addresses),
		Checks:    p.checks(path+".checks", r.Checks),
		On: On{
			Dead: p.answer(path+".on.dead", r.On.Dead, DefaultOnDead),
			Sick: p.answer(path+".on.sick", r.On.Sick, DefaultOnSick),
			Slow: p.answer(path+".on.slow", r.On.Slow, DefaultOnSlow),
		},
		DrainFile:   p.file(path+".drain_file", r.DrainFile, ""),
		ServicePath: p.servicePath(path+".service_path", r.ServicePath),
		Failback:    p.word(path+".failback", r.Failback, DefaultFailback, FailbackAuto, FailbackManual),
	}
	s.Announce = p.announce(path+".announce", r.Announce, s.Addresses)
	s.Policy, s.AtLeast = p.policy(path+".policy", r.Policy, s.Checks)
	p.times(path, r, &s)
	for i := range s.Checks {
		s.Checks[i].Rules.SilentAfter = s.SilentAfter
	}
	return s
}

// times fills in the durations of a service.
func (p *parser) times(path string, r rawService, s *Service) {
	const moment = 100 * time.Millisecond
	s.SilentAfter = p.duration(path+".silent_after", r.SilentAfter, span{DefaultSilentAfter, moment, 10 * time.Minute})
	s.YieldWait = p.duration(path+".yield_wait", r.YieldWait, span{DefaultYieldWait, moment, 10 * time.Minute})
	s.Settle = p.duration(path+".settle", r.Settle, span{DefaultSettle, 0, 10 * time.Second})
	s.Drain = p.duration(path+".drain", r.Drain, span{DefaultDrain, 0, 10 * time.Minute})
	s.DrainTimeout = p.duration(path+".drain_timeout", r.DrainTimeout, span{DefaultDrainTimeout, moment, time.Hour})
	s.Hold.Min = p.duration(path+".hold.min", r.Hold.Min, span{DefaultHoldMin, 0, 24 * time.Hour})
	s.Hold.Max = p.duration(path+".hold.max", r.Hold.Max, span{DefaultHoldMax, 0, 24 * time.Hour})
	if s.Hold.Min > s.Hold.Max {
		at, value := path+".hold.max", r.Hold.Max
		if value == nil {
			at, value = path+".hold.min", r.Hold.Min
		}
		p.fail(at, value, "hold.min (%s) must not be above hold.max (%s)", short(s.Hold.Min), short(s.Hold.Max))
	}
	p.drainTimeout(path, r, s)
}

// drainTimeout reports a drain that can never be done in time: others must be
// seen for yield_wait and up to half of it more.
func (p *parser) drainTimeout(path string, r rawService, s *Service) {
	most := s.YieldWait + s.YieldWait/2
	if s.DrainTimeout >= most {
		return
	}
	at, value := path+".drain_timeout", r.DrainTimeout
	if value == nil {
		at, value = path+".yield_wait", r.YieldWait
	}
	p.fail(at, value, "drain_timeout (%s) must be at least 1.5 times yield_wait (%s), or every drain fails",
		short(s.DrainTimeout), short(s.YieldWait))
}

// answer returns the answer to a level.
func (p *parser) answer(path string, s *scalar, def string) string {
	return p.word(path, s, def, Withdraw, Deprefer, Yield, Ignore)
}

// link makes the link of a service.
func (p *parser) link(path string, r rawLink) Link {
	return Link{
		Name:    p.linkName(path+".name", r.Name, DefaultLink),
		Kind:    p.word(path+".kind", r.Kind, DefaultKind, KindDummy, KindIFB, KindBridge, KindExisting),
		WhenOut: p.word(path+".when_out", r.WhenOut, DefaultWhenOut, WhenOutDown, WhenOutKeep),
	}
}

// linkName returns the name of an interface, empty if wrong. The kernel allows
// (dev_valid_name) IFNAMSIZ less a zero byte, and no slash, colon or space.
func (p *parser) linkName(path string, s *scalar, def string) string {
	const most = 15
	strange := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("/:%", r) }
	switch {
	case s == nil:
		return def
	case s.text == "" || len(s.text) > most:
		p.fail(path, s, "the name of an interface has 1 to %d bytes", most)
	case s.text == "." || s.text == ".." || strings.ContainsFunc(s.text, strange):
		p.fail(path, s, "not the name of an interface: it may hold no space, /, : or %%")
	default:
		return s.text
	}
	return ""
}

// addresses returns the service addresses, zero in place of those that are
// wrong. One without a length is taken for the host route that it can only be.
func (p *parser) addresses(path string, raw []scalar) []netip.Prefix {
	if len(raw) == 0 {
		p.fail(path, nil, "missing; give it at least one address, such as 10.1.9.53/32")
	}
	var list []netip.Prefix
	for i, s := range raw {
		at := index(path, i)
		r := p.prefix(at, &s)
		if r.IsValid() && !p.isHost(at, &s, r) {
			r = netip.Prefix{}
		}
		list = append(list, r)
	}
	return list
}

// prefix returns the value of a prefix or address, zero if wrong.
func (p *parser) prefix(path string, s *scalar) netip.Prefix {
	r, err := netip.ParsePrefix(s.text)
	if err != nil {
		var a netip.Addr
		a, err = netip.ParseAddr(s.text)
		r = netip.PrefixFrom(a.WithZone(""), a.BitLen())
	}
	a := r.Addr()
	switch {
	case err != nil:
		p.fail(path, s, "not a prefix, such as 10.1.9.53/32")
	case strings.Contains(s.text, "%"):
		p.fail(path, s, "must have no zone")
	case a.Is4In6():
		p.fail(path, s, "an IPv4 address in IPv6 form; write %s", a.Unmap())
	case a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || isBroadcast(a):
		p.fail(path, s, "no router passes on a %s address", scope(a))
	default:
		return r
	}
	return netip.Prefix{}
}

// scope names what keeps an address from being routed.
func scope(a netip.Addr) string {
	switch {
	case a.IsLoopback():
		return "loopback"
	case a.IsMulticast():
		return "multicast"
	case a.IsLinkLocalUnicast():
		return "link-local"
	default:
		return "broadcast"
	}
}

// isHost reports whether a prefix is the host route of an address.
func (p *parser) isHost(path string, s *scalar, r netip.Prefix) bool {
	a := r.Addr()
	switch {
	case !r.IsSingleIP():
		p.fail(path, s, "a service address is a host route; write %s/%d (announce takes covering prefixes)", a, a.BitLen())
	case a.IsUnspecified():
		p.fail(path, s, "must be the address of one host")
	default:
		return true
	}
	return false
}

// announce returns the covering prefixes, zero in place of those that are
// wrong. Each service address must lie in one of them, and each of them must
// hold one.
func (p *parser) announce(path string, raw []scalar, addresses []netip.Prefix) []netip.Prefix {
	var list []netip.Prefix
	for i, s := range raw {
		r := p.prefix(index(path, i), &s)
		if r.IsValid() && !p.isCovering(index(path, i), &s, r, addresses) {
			r = netip.Prefix{}
		}
		list = append(list, r)
	}
	for _, a := range addresses {
		if len(raw) > 0 && isWhole(list) && a.IsValid() && !overlapsAny(a, list) {
			p.fail(path, nil, "leaves out %s, which nobody could reach; add a prefix that covers it", a)
		}
	}
	return list
}

// isCovering reports whether a prefix may stand for the host routes of some
// addresses.
func (p *parser) isCovering(path string, s *scalar, r netip.Prefix, addresses []netip.Prefix) bool {
	switch {
	case r.Bits() == 0:
		p.fail(path, s, "the default route is not for a service to announce")
	case r != r.Masked():
		p.fail(path, s, "has bits set behind its length; write %s", r.Masked())
	case len(addresses) > 0 && isWhole(addresses) && !overlapsAny(r, addresses):
		p.fail(path, s, "covers none of addresses")
	default:
		return true
	}
	return false
}

// isWhole reports whether none of some prefixes was wrong.
func isWhole(prefixes []netip.Prefix) bool {
	return !slices.ContainsFunc(prefixes, func(r netip.Prefix) bool { return !r.IsValid() })
}

// overlapsAny reports whether a prefix has an address in common with any of
// some others.
func overlapsAny(r netip.Prefix, others []netip.Prefix) bool {
	return slices.ContainsFunc(others, r.Overlaps)
}

// policy returns how the verdicts of the checks make a level, and the N of
// at_least: N, which may also be written as one text.
func (p *parser) policy(path string, r *rawPolicy, checks []Check) (string, int) {
	counting := 0
	for _, c := range checks {
		if c.Failure != FailureInfo {
			counting++
		}
	}
	if counting == 0 && len(checks) > 0 {
		p.fail(strings.TrimSuffix(path, ".policy")+".checks", nil,
			"all have failure: info, so nothing would decide; leave it out of one")
	}
	if r == nil {
		return DefaultPolicy, 0
	}
	number, text := r.AtLeast, r.Word
	if text != nil {
		if m := atLeast().FindStringSubmatch(text.text); m != nil {
			number, text = &scalar{text: m[1], env: text.env}, nil
		}
	}
	switch {
	case text != nil && (text.text == PolicyAll || text.text == PolicyAny):
		return text.text, 0
	case number == nil:
		p.fail(path, text, "must be all, any, or {at_least: N}")
		return DefaultPolicy, 0
	}
	n, err := strconv.Atoi(number.text)
	if err != nil || n < 1 || n > max(counting, 1) {
		p.fail(path+".at_least", number, "must be a whole number from 1 to %s", ofChecks(counting))
	}
	return PolicyAtLeast, n
}

// atLeast matches at_least: N written as one text.
func atLeast() *regexp.Regexp { return regexp.MustCompile(`^at_least\s*[:=\s]\s*(\S+)$`) }

// ofChecks names the upper end of at_least.
func ofChecks(n int) string { return fmt.Sprintf("%d, the number of checks that count", max(n, 1)) }

// servicePath returns how the service addresses themselves are asked.
func (p *parser) servicePath(path string, r *rawServicePath) ServicePath {
	switch {
	case r == nil || r.Word == nil && r.Source == nil:
		return ServicePath{}
	case r.Source != nil:
		return ServicePath{Source: p.address(path+".source", r.Source, false)}
	case r.Word.text != "true" && r.Word.text != "false":
		p.fail(path, r.Word, "must be true, false, or {source: ADDRESS}")
	}
	return ServicePath{Off: r.Word.text == "false"}
}
