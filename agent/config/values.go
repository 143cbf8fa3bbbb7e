package config

import (
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// span is the default of a duration and what it may be, both ends included.
type span struct{ def, min, max time.Duration }

// duration returns the value of a duration.
func (p *parser) duration(path string, s *scalar, r span) time.Duration {
	if s == nil {
		return r.def
	}
	if isNumber(s.text) {
		p.fail(path, s, "missing unit, such as %s", withUnit(s.text, r))
		return r.def
	}
	d, err := time.ParseDuration(s.text)
	switch {
	case err != nil:
		p.fail(path, s, "not a duration, such as 500ms, 3s or 1m30s")
	case d < r.min || d > r.max:
		p.fail(path, s, "must be from %s to %s", short(r.min), short(r.max))
	default:
		return d
	}
	return r.def
}

// isNumber reports whether a text is a number with no unit.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.ContainsAny(s, "0123456789")
}

// withUnit returns a number with the unit that was probably meant.
func withUnit(number string, r span) string {
	for _, unit := range []string{"ms", "s"} {
		d, err := time.ParseDuration(number + unit)
		if err == nil && d >= r.min && d <= r.max {
			return number + unit
		}
	}
	return "500ms"
}

// short returns a duration without the zero parts that String adds.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// number returns the value of a whole number from low to high.
func (p *parser) number(path string, s *scalar, def, low, high int64) int64 {
	if s == nil {
		return def
	}
	n, err := strconv.ParseInt(s.text, 10, 64)
	if err != nil || n < low || n > high {
		p.fail(path, s, "must be a whole number from %d to %d", low, high)
		return def
	}
	return n
}

// share returns the value of a share, written as 5% or 0.05.
func (p *parser) share(path string, s *scalar, def float64) float64 {
	if s == nil {
		return def
	}
	text, percent := strings.CutSuffix(s.text, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f > 0 && f < 1) {
		p.fail(path, s, "must be a share between 0%% and 100%%, such as 5%%")
		return def
	}
	return f
}

// boolean returns the value of a setting that is true or false.
func (p *parser) boolean(path string, s *scalar) bool {
	return p.word(path, s, "false", "true", "false") == "true"
}

// word returns the value of a setting that is one of a few words.
func (p *parser) word(path string, s *scalar, def string, words ...string) string {
	if s == nil {
		return def
	}
	for _, w := range words {
		if s.text == w {
			return w
		}
	}
	last := len(words) - 1
	p.fail(path, s, "must be %s or %s", strings.Join(words[:last], ", "), words[last])
	return def
}

// file returns the value of an absolute path.
func (p *parser) file(path string, s *scalar, def string) string {
	switch {
	case s == nil:
		return def
	case strings.ContainsRune(s.text, 0):
		p.fail(path, s, "must not hold a zero byte")
	case !filepath.IsAbs(s.text):
		p.fail(path, s, "must be an absolute path, beginning with /")
	default:
		return filepath.Clean(s.text)
	}
	return def
}

// address returns the value of a unicast address, the zero Addr if absent or
// wrong. Only where zoned is true may it have a zone.
func (p *parser) address(path string, s *scalar, zoned bool) netip.Addr {
	if s == nil {
		return netip.Addr{}
	}
	a, err := netip.ParseAddr(s.text)
	switch {
	case err != nil:
		p.fail(path, s, "not an IP address")
	case a.Is4In6():
		p.fail(path, s, "an IPv4 address in IPv6 form; write %s", a.Unmap())
	case a.IsUnspecified() || a.IsMulticast() || isBroadcast(a):
		p.fail(path, s, "must be the address of one host")
	case a.Zone() != "" && !zoned:
		p.fail(path, s, "must have no zone (%%%s)", a.Zone())
	default:
		return a
	}
	return netip.Addr{}
}

// isBroadcast reports whether an address is 255.255.255.255.
func isBroadcast(a netip.Addr) bool { return a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) }

// family returns the value of a unicast address of IPv4 or of IPv6.
func (p *parser) family(path string, s *scalar, v4 bool) netip.Addr {
	a := p.address(path, s, false)
	if !a.IsValid() || a.Is4() == v4 {
		return a
	}
	if v4 {
		p.fail(path, s, "must be an IPv4 address")
	} else {
		p.fail(path, s, "must be an IPv6 address")
	}
	return netip.Addr{}
}

// maxName is the length of the longest name of a service or check.
const maxName = 63

// name returns the name of a service or check, empty if wrong. It ends up in
// commands, file names and metrics, so it is kept simple.
func (p *parser) name(path string, s *scalar, def string) string {
	switch {
	case s == nil:
		return def
	case s.text == "" || len(s.text) > maxName:
		p.fail(path, s, "must have 1 to %d characters", maxName)
	case strings.ContainsFunc(s.text, notInName) || strings.ContainsAny(s.text[:1], ".-"):
		p.fail(path, s, "may hold letters, digits, and . _ - (not at the beginning . or -)")
	default:
		return s.text
	}
	return ""
}

// notInName reports whether a name may not hold a character.
func notInName(r rune) bool {
	lower, upper := r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z'
	return !(lower || upper || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
}
