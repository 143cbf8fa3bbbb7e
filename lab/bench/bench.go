// Package bench is what a scenario acts on: a raised design with its clients,
// its nodes and its router, whatever raised it (namespaces or Incus).
package bench

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"recuse/lab/authority"
	"recuse/lab/load"
	"recuse/lab/result"
)

// ErrUnsupported says that a bench cannot do what was asked of it: a real
// router cannot be killed, a kernel may have no resilient groups. The scenario
// is then reported as left out, with the reason, never as passed.
var ErrUnsupported = errors.New("not possible on this bench")

// Bench is a raised design.
type Bench interface {
	// Setup says what was raised; Stub, Rate and Scale are the runner's.
	Setup() result.Setup
	// Settings are the settings that count, a line each, for the report.
	Settings() []string
	// Servers are what DHCP would give the clients, in order.
	Servers() []netip.AddrPort
	// Network is where client i's sockets are opened: every client has an
	// address of its own. There are Clients of them.
	Network(i int) load.Network
	Clients() int

	Nodes() []Node
	Router() Router
	// Relay is the relay's daemon, nil in a design without one.
	Relay() Daemon

	// Zone makes a zone behave so towards these nodes, or all if none is named.
	Zone(ctx context.Context, zone string, b authority.Behaviour, nodes ...Node) error
	// Zones says what every zone was asked and how often it failed.
	Zones(ctx context.Context) (map[string]authority.Zone, error)
	// AddNode raises one node more, under the running clients.
	AddNode(ctx context.Context) (Node, error)

	// Ready waits until every node that should serve does, in the router's kernel
	// (anycast), or answers (the others), BFD sessions included.
	Ready(ctx context.Context) error
	// Observe sends what the parties do, in time order for each lane, until ctx
	// ends, and closes the channel then.
	Observe(ctx context.Context) (<-chan result.Event, error)
	// Versions are those of the programs that take part.
	Versions(ctx context.Context) map[string]string
	// Logs copies the daemons' logs and configurations into a directory.
	Logs(dir string) error
	Close() error
}

// Node is a box with a resolver and, in the anycast design, an agent.
type Node interface {
	Name() string
	Address() netip.Addr // of its own, not the service address
	Resolver() Daemon
	Agent() Daemon                    // nil if there is none
	Freeze(ctx context.Context) error // silent at once: no process runs, no packet comes or goes, no carrier is lost
	Thaw(ctx context.Context) error
	Kill(ctx context.Context) error  // every process of the node at once: the sockets close
	Start(ctx context.Context) error // what Kill ended
	// Answers makes the node's resolver answer so: all queries, a share of them.
	Answers(ctx context.Context, b authority.Behaviour) error
	// Wire shapes everything that the node sends and receives, BFD and BGP
	// included.
	Wire(ctx context.Context, w Wire) error
	// DropClients makes the node's firewall drop what clients send to port 53,
	// and nothing else; false lets them in again.
	DropClients(ctx context.Context, drop bool) error
	// Seen counts the packets to and from port 53 on the node's wire, and what
	// its firewall dropped: the proof of who served whom.
	Seen(ctx context.Context) (Traffic, error)
	// Drain, Undrain are `recuse drain` and `recuse undrain`; ErrUnsupported for
	// other agents.
	Drain(ctx context.Context) error
	Undrain(ctx context.Context) error
	// Upgrade replaces the agent: a clean stop and a start of the new program.
	Upgrade(ctx context.Context) error
}

// Wire is how a node's cable treats packets, each way.
type Wire struct {
	Delay time.Duration
	Loss  float64 // 0 to 1
	Cut   bool
}

// Traffic is what passed a node's interface on port 53, UDP and TCP together.
type Traffic struct {
	Queries int // towards the node's service or own address
	Answers int
	Dropped int // by DropClients
}

// Daemon is one program on a host.
type Daemon interface {
	Name() string
	Running() bool
	Start(ctx context.Context) error
	Stop(ctx context.Context) error // in order, and waits
	Kill(ctx context.Context) error // SIGKILL, and waits
	Pause() error                   // SIGSTOP
	Continue() error                // SIGCONT
}

// Router is the router.
type Router interface {
	Restart(ctx context.Context) error
	// NextHops are the nodes' names behind the service address in its kernel.
	NextHops(ctx context.Context) ([]string, error)
	// Wide cuts the router off from the internet (and the authorities).
	Wide(ctx context.Context, cut bool) error
	// Resilient makes its ECMP groups resilient: a change moves no flow that
	// need not move.
	Resilient(ctx context.Context, on bool) error
}
