package dnsx

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// randomMark stands in a configured name for the fresh part of each query.
const randomMark = "{random}"

// randomBytes is how many random bytes make the fresh part: 16 hex digits.
const randomBytes = 8

// ParseType reads a question's type by its name, such as A, or as TYPE65280.
// An error says the rule and the way out, but not the text itself.
func ParseType(s string) (uint16, error) {
	name := strings.ToUpper(s)
	if t, ok := dns.StringToType[name]; ok && asked(t) {
		return t, nil
	}
	if digits, ok := strings.CutPrefix(name, "TYPE"); ok {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil && asked(uint16(n)) {
			return uint16(n), nil
		}
	}
	return 0, errors.New("not a type that a check can ask for, use one such as A, AAAA, TXT, SOA or NS")
}

// asked tells whether a plain question may have type t. Transfers have more
// than one answer, and the pseudo types are no records.
func asked(t uint16) bool {
	switch t {
	case dns.TypeNone, dns.TypeOPT, dns.TypeAXFR, dns.TypeIXFR, dns.TypeTSIG, dns.TypeTKEY, dns.TypeReserved:
		return false
	}
	return true
}

// ParseRcode reads an answer code by its name, such as NXDOMAIN. An error says
// the rule and the way out, but not the text itself.
func ParseRcode(s string) (int, error) {
	if code, ok := dns.StringToRcode[strings.ToUpper(s)]; ok {
		return code, nil
	}
	return 0, errors.New("not an answer code, use names such as NOERROR, NXDOMAIN or SERVFAIL")
}

// checkName returns an error unless the configured name, its fresh part filled
// in, is a domain name.
func checkName(name string) error {
	if name == "" {
		return errors.New(`empty name, write one such as "{random}.lan"`)
	}
	// The longest label is what a fresh part can make too long.
	full := dns.Fqdn(strings.ReplaceAll(name, randomMark, strings.Repeat("0", 2*randomBytes)))
	if strings.ContainsAny(full, "{}") {
		return errors.New("the only part in braces that a name may have is {random}")
	}
	if strings.ContainsFunc(full, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New(`no spaces and control characters, write such a byte as its three decimal digits after a \`)
	}
	if _, ok := dns.IsDomainName(full); !ok || strings.Contains(full, "..") || !packs(full) {
		return errors.New("not a domain name: labels are 1 to 63 characters, the whole at most 253")
	}
	return nil
}

// packs tells whether a full name can be written into a question.
func packs(full string) bool {
	_, err := dns.PackDomainName(full, make([]byte, nameMax), 0, nil, false)
	return err == nil
}

// nameMax is the longest name, in bytes on the wire (RFC 1035 section 3.1).
const nameMax = 255

// fresh returns the name to ask for, in full, with a new random part in place
// of every {random}.
func fresh(name string) (string, error) {
	if !strings.Contains(name, randomMark) {
		return dns.Fqdn(name), nil
	}
	var b [randomBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("failed to read random bytes: %w", err)
	}
	return dns.Fqdn(strings.ReplaceAll(name, randomMark, hex.EncodeToString(b[:]))), nil
}
