package quest

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// resolver is a program that answers, and how it is started. Each has its own
// defaults but for what makes it answer here: where it listens, whom it asks.
type resolver struct {
	name    string
	note    string // what is not the program's default; "" if nothing
	program string
	debian  string   // package
	version []string // asks the program for its version
	// limit is the setting that limits the rate, with a place for the number; ""
	// if the program has none.
	limit string
	// debt is how long a limit that was exceeded goes on to count that, though
	// fewer questions come; 0 if what is over is over.
	debt time.Duration

	config func(s site) string
	argv   func(program, config string) []string
}

// site is where a resolver is started.
type site struct {
	dir      string     // its own files
	listen   netip.Addr // port 53
	internet netip.Addr // the authority of the root and the internet
	home     netip.Addr // the authority of lan. and of the leases' addresses
	limit    string     // the setting that limits the rate; "" for none
}

// resolvers are all that can be asked.
var resolvers = []resolver{unbound, dnsdist, bind, knot, dnsmasq, dnsmasqLarge}

// Resolvers are the names that Options.Resolvers may have.
func Resolvers() []string {
	names := make([]string, len(resolvers))
	for i, r := range resolvers {
		names[i] = r.name
	}
	return names
}

// choose finds the resolvers with these names; none: all.
func choose(names []string) ([]resolver, error) {
	if len(names) == 0 {
		return resolvers, nil
	}
	var chosen []resolver
	for _, name := range names {
		i := slices.IndexFunc(resolvers, func(r resolver) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("resolvers: %q: must be one of %s", name, strings.Join(Resolvers(), ", "))
		}
		chosen = append(chosen, resolvers[i])
	}
	return chosen, nil
}

// setting is the resolver's setting for a limit of the rate; "" for none.
func (r resolver) setting(limit int) string {
	if limit == 0 || r.limit == "" {
		return ""
	}
	return fmt.Sprintf(r.limit, limit)
}

// find is the path of the resolver's program, or an error that names the
// package.
func (r resolver) find() (string, error) {
	if path, err := exec.LookPath(r.program); err == nil {
		return path, nil
	}
	// Debian keeps daemons out of an ordinary user's PATH.
	path := filepath.Join("/usr/sbin", r.program)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not installed (Debian: apt-get install %s)", r.program, r.debian)
	}
	return path, nil
}

// asks is the first line that the program says of its version; "" if it does
// not.
func (r resolver) asks(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, r.version...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		return ""
	}
	// A licence and a build follow on the same line.
	line, _, _ = strings.Cut(line, "  ")
	line, _, _ = strings.Cut(line, " <")
	line, _, _ = strings.Cut(line, " (Ext")
	return line
}
