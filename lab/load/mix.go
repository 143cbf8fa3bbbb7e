package load

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/miekg/dns"

	"recuse/lab/authority"
)

// random stands in a name for a label that has never been asked for.
const random = "{random}"

// Mix is what a run asks for, in turn: a name each, and after a space a type if
// it is not A.
type Mix []string

// Household is a home's mix: six popular names that a resolver soon has cached,
// two of the internet that nobody has asked for before, two of the home zone,
// one of them new.
func Household() Mix {
	fresh := random + "." + authority.Fresh
	return append(Mix(authority.Popular()), fresh, fresh, authority.Hosts()[1], random+"."+authority.LAN)
}

// ReadMix reads a mix from a file of one question a line: a name, which may
// have {random} in it, and optionally a type. Empty lines and what follows a #
// are left out. An error names the line.
func ReadMix(r io.Reader) (Mix, error) {
	var m Mix
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		entry := strings.Join(strings.Fields(text), " ")
		if entry == "" {
			continue
		}
		if _, err := parseEntry(entry); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		m = append(m, entry)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("failed to read names: %w", err)
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("failed to read names: there are none")
	}
	return m, nil
}

// entry is one question of a mix, parsed.
type entry struct {
	name  string // with the final dot; may contain random
	qtype uint16
}

// parseEntry reads "NAME [TYPE]".
func parseEntry(s string) (entry, error) {
	fields := strings.Fields(s)
	if len(fields) < 1 || len(fields) > 2 {
		return entry{}, fmt.Errorf("%q: must be a name and optionally a type", s)
	}
	e := entry{name: dns.Fqdn(fields[0]), qtype: dns.TypeA}
	if _, ok := dns.IsDomainName(e.fill(0)); !ok {
		return entry{}, fmt.Errorf("%q: must be a domain name", fields[0])
	}
	if len(fields) == 2 {
		t, ok := dns.StringToType[strings.ToUpper(fields[1])]
		if !ok {
			return entry{}, fmt.Errorf("%q: must be a record type", fields[1])
		}
		e.qtype = t
	}
	return e, nil
}

// entries parses the whole mix.
func (m Mix) entries() ([]entry, error) {
	all := make([]entry, len(m))
	for i, s := range m {
		e, err := parseEntry(s)
		if err != nil {
			return nil, fmt.Errorf("mix[%d]: %w", i, err)
		}
		all[i] = e
	}
	return all, nil
}

// fill is the name with a label made of n in place of random.
func (e entry) fill(n uint64) string {
	if !strings.Contains(e.name, random) {
		return e.name
	}
	return strings.ReplaceAll(e.name, random, fmt.Sprintf("%016x", n))
}
