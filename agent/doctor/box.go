package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/netlinkx"
	"recuse/probe"
)

// Box is what was read of a box at one moment.
type Box struct {
	Config *config.Config
	// Files are those of the root directory: /proc, /sys, /run.
	Files fs.FS
	Agent Agent
	// Unfit is what is wrong with the configuration on this box: a
	// config.Errors, or the failure to look.
	Unfit error
	// Links are the services' links, in the order of the configuration. An error
	// that is a netlinkx.ErrForeign stands beside a true state.
	Links []Got[netlinkx.State]
	// Indexes are those of the box's links, by name.
	Indexes map[string]int
	Guards  Got[[]netip.Prefix]
	// Ways lead to the peers, in the order of the configuration; Locals to
	// their local_address, where it is set.
	Ways, Locals []Got[netlinkx.Way]
	// Outward leads to the internet, by IPv4 and IPv6.
	Outward [2]Got[netlinkx.Way]
	// Withheld says, for each peer, what could not be announced to it.
	Withheld []error
	Sockets  Got[[]Socket]
	Rules    Got[Ruleset]
	Asked    Got[[]Asked]
	// Zones are the answers to the checks of local names when the zone's SOA is
	// demanded too.
	Zones Got[[]agent.Sample]
	// Wires says, for each check with a tripwire of the kernel's, in the order of
	// the configuration, why none can be laid.
	Wires    []error
	StateDir StateDir
	// NoGroup says why there is no control.group.
	NoGroup error
}

// Got is a value that was read, or why it was not.
type Got[T any] struct {
	Value T
	Err   error
}

// got makes one of what a reader returns.
func got[T any](v T, err error) Got[T] { return Got[T]{v, err} }

// Agent is the agent that runs, if one does.
type Agent struct {
	Status control.Status
	PID    int // 0: unknown
	// Err is a control.ErrNoDaemon where none runs.
	Err error
}

// Up tells whether the agent runs and has answered.
func (a Agent) Up() bool { return a.Err == nil }

// has tells whether a service address is one that the agent knows.
func (a Agent) has(p netip.Prefix) bool {
	for _, s := range a.Status.Services {
		for _, x := range s.Addresses {
			if x.Prefix == p.String() {
				return true
			}
		}
	}
	return false
}

// Socket is a socket that others can reach.
type Socket struct {
	TCP     bool // listening; else UDP, unconnected
	Local   netip.AddrPort
	Process string // its name; "" if it may not be looked at
	PID     int
}

// String says whose it is, and where.
func (s Socket) String() string {
	return fmt.Sprintf("%s on %s %s", s.owner(), transports[s.TCP], s.Local)
}

// owner names the process.
func (s Socket) owner() string {
	if s.PID == 0 {
		return "a process that this user may not look at"
	}
	return fmt.Sprintf("%s (pid %d)", s.Process, s.PID)
}

// Asked is a check, and how its probes ended.
type Asked struct {
	agent.Sample // the last one that failed, or the last one
	Failed, All  int
}

// passed tells whether every probe did.
func (a Asked) passed() bool { return a.Result.Cause == probe.Passed }

// StateDir is the directory of the configuration's state_dir.
type StateDir struct {
	Err      error // a fs.ErrNotExist where it is missing
	Volatile bool  // its file system is memory
}

// read returns a file of the box without its last newline.
func (b *Box) read(path string) (string, error) {
	text, err := fs.ReadFile(b.Files, strings.TrimPrefix(path, "/"))
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = path // not below the root
	}
	return strings.TrimSpace(string(text)), err
}

// sysctl returns a kernel setting. Parts are joined by slashes, since a link's
// name may have a dot.
func (b *Box) sysctl(parts ...string) (string, error) {
	return b.read("/proc/sys/" + strings.Join(parts, "/"))
}

// serves tells whether an address is a service's.
func (b *Box) serves(a netip.Addr) bool {
	for _, s := range b.Config.Services {
		for _, p := range s.Addresses {
			if p.Addr() == a {
				return true
			}
		}
	}
	return false
}

// announced are the prefixes of all services.
func announced(c *config.Config) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range c.Services {
		all = append(all, s.Routes()...)
	}
	return all
}
