package peer

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"recuse/lab/topology"
)

// The names of the agents.
const (
	ExaBGP     = "exabgp"
	FRRScript  = "frr-script"
	BIRDScript = "bird-script"
	Keepalived = "keepalived"
)

// link is the interface that carries the service where an agent needs one; the
// scripts name it too.
const link = topology.AgentLink

// kinds are how the agents are made.
var kinds = map[string]func(tuned bool) topology.Agent{
	ExaBGP:     func(tuned bool) topology.Agent { return newExaBGP(tuned) },
	FRRScript:  func(tuned bool) topology.Agent { return newFRR(tuned) },
	BIRDScript: func(tuned bool) topology.Agent { return newBIRD(tuned) },
	Keepalived: func(tuned bool) topology.Agent { return newKeepalived(tuned) },
}

// Names are the agents' names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// New is the agent of that name, with its own defaults or tuned. What it lacks
// on this box is an error that names the package.
func New(name string, tuned bool) (topology.Agent, error) {
	build, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("agent %q: must be one of %s", name, strings.Join(Names(), ", "))
	}
	if err := Missing(name); err != nil {
		return nil, err
	}
	return build(tuned), nil
}

// packages are the Debian packages of the programs that an agent needs.
var packages = map[string]map[string]string{
	ExaBGP:     {"/usr/sbin/exabgp": "exabgp", "/usr/bin/python3": "python3"},
	FRRScript:  {"/usr/lib/frr/bgpd": "frr", "/usr/lib/frr/bfdd": "frr"},
	BIRDScript: {"/usr/sbin/bird": "bird2", "/usr/sbin/birdc": "bird2"},
	Keepalived: {"/usr/sbin/keepalived": "keepalived"},
}

// Missing says what this box lacks for an agent, and how to get it; nil if
// nothing.
func Missing(name string) error {
	need := maps.Clone(packages[name])
	need["/usr/bin/dig"] = "bind9-dnsutils"
	var errs []error
	for _, program := range slices.Sorted(maps.Keys(need)) {
		if _, err := exec.LookPath(program); err != nil {
			errs = append(errs, fmt.Errorf("%s is not installed: apt-get install %s", program, need[program]))
		}
	}
	return errors.Join(errs...)
}

// pace is how an agent checks.
type pace struct {
	pause      time.Duration // between two checks
	timeout    time.Duration // of one check; dig takes whole seconds
	rise, fall int           // checks in a row that take the service up, and down
}

// fastest is the pace of a tuned agent that has no limit of its own: dig waits no
// less than a second. Four checks a second on each of three nodes are as many as
// leave a box of two cores to the load.
var fastest = pace{pause: 250 * time.Millisecond, timeout: time.Second, rise: 1, fall: 1}

// arguments are what health.sh takes.
func (p pace) arguments() []string {
	return []string{seconds(p.pause), seconds(p.timeout), strconv.Itoa(p.rise), strconv.Itoa(p.fall)}
}

// String is the report's word of it.
func (p pace) String() string {
	return fmt.Sprintf("pause %v, timeout %v, rise %d, fall %d", p.pause, p.timeout, p.rise, p.fall)
}

// seconds is a duration as the programs take it: 0.25.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// word is "tuned" or "defaults", for the report.
func word(tuned bool) string {
	if tuned {
		return "tuned"
	}
	return "defaults"
}

// The shell scripts, each with its own explanation.
//
//go:embed scripts/*.sh
var scripts embed.FS

// script puts a script on a node under a name of its own and returns its path.
func script(n *topology.Node, from, name string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + from)
	if err != nil {
		return "", fmt.Errorf("failed to read script: %w", err)
	}
	return n.Path(name), n.WriteFile(name, string(text))
}

// checker puts the check on a node and returns its command line for a timeout.
func checker(n *topology.Node, timeout time.Duration) (string, error) {
	path, err := script(n, "check.sh", "check.sh")
	return "/bin/sh " + path + " " + seconds(timeout), err
}

// health puts the endless check and its hooks on a node, and describes its
// process.
func health(n *topology.Node, hooks string, p pace) (*topology.Process, error) {
	if _, err := checker(n, p.timeout); err != nil {
		return nil, err
	}
	if _, err := script(n, hooks, "hooks.sh"); err != nil {
		return nil, err
	}
	path, err := script(n, "health.sh", "health.sh")
	return n.Add("health", func() []string {
		return append([]string{"/bin/sh", path}, p.arguments()...)
	}), err
}

// version is the first line that a program prints of itself, in a map for the
// report; none if it cannot be run.
func version(ctx context.Context, argv ...string) map[string]string {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return map[string]string{filepath.Base(argv[0]): line}
}
