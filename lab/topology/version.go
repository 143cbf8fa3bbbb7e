package topology

import (
	"context"
	"os/exec"
	"strings"
)

// asks are how a program is asked for its version.
var asks = map[string][]string{
	"unbound": {"unbound", "-V"},
	"dnsdist": {"dnsdist", "--version"},
	FRR:       {"bgpd", "--version"},
	BIRD:      {"bird", "--version"},
}

// Version is what a program of the lab (unbound, dnsdist, frr, bird) says of
// itself in its first line, under its name; none if it cannot be run.
func Version(ctx context.Context, program string) map[string]string {
	argv := asks[program]
	return version(ctx, program, append([]string{tool(argv[0])}, argv[1:]...)...)
}

// version is the first line that a program prints of itself, under a name.
func version(ctx context.Context, name string, argv ...string) map[string]string {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return map[string]string{name: line}
}
