package config

import (
	"log/slog"
	"net/netip"
	"time"

	"recuse/bgp"
	"recuse/probe"
	"recuse/probe/dnsx"
)

// Config is a whole configuration, every default filled in. It holds plain
// values only, so two of them can be compared with reflect.DeepEqual.
type Config struct {
	Path     string // of the file it was read from
	Node     string
	StateDir string
	Control  Control
	HTTP     HTTP
	Log      Log
	BGP      bgp.Config // passwords already read from their files
	Services []Service

	// Warnings are settings that are legal and probably not meant, each in
	// the form of a Problem's line.
	Warnings []string
}

// Control says where the agent listens for its own commands.
type Control struct {
	Socket string // absolute path
	Group  string // may use the socket beside root; need not exist
}

// HTTP says where metrics and the status page are served.
type HTTP struct {
	Listen string // host:port; empty for not at all
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string // LogText or LogJSON
}

// Values of Log.Format.
const (
	LogText = "text"
	LogJSON = "json"
)

// Service is one thing served on anycast addresses.
type Service struct {
	Name      string
	Addresses []netip.Prefix // host routes, /32 and /128
	Announce  []netip.Prefix // covering prefixes; empty: Addresses are announced
	Link      Link
	Checks    []Check // at least one
	On        On

	Policy  string // PolicyAll, PolicyAny or PolicyAtLeast
	AtLeast int    // N of PolicyAtLeast, else 0

	SilentAfter  time.Duration
	YieldWait    time.Duration
	Settle       time.Duration
	Drain        time.Duration
	DrainTimeout time.Duration
	DrainFile    string // empty: none

	ServicePath ServicePath
	Hold        Hold
	Failback    string // FailbackAuto or FailbackManual
}

// Routes returns the prefixes that the service announces: Announce, or the
// host routes where that is empty.
func (s Service) Routes() []netip.Prefix {
	if len(s.Announce) > 0 {
		return s.Announce
	}
	return s.Addresses
}

// Link is the interface that carries the service addresses.
type Link struct {
	Name    string
	Kind    string // KindDummy, KindIFB, KindBridge or KindExisting
	WhenOut string // WhenOutDown or WhenOutKeep
}

// Values of Link.Kind.
const (
	KindDummy    = "dummy"
	KindIFB      = "ifb"
	KindBridge   = "bridge"
	KindExisting = "existing"
)

// Values of Link.WhenOut.
const (
	WhenOutDown = "down"
	WhenOutKeep = "keep"
)

// On holds the answer to each level that has a choice.
type On struct {
	Dead, Sick, Slow string // Withdraw, Deprefer, Yield or Ignore
}

// Answers to a level.
const (
	Withdraw = "withdraw"
	Deprefer = "deprefer"
	Yield    = "yield"
	Ignore   = "ignore"
)

// Values of Service.Policy.
const (
	PolicyAll     = "all"
	PolicyAny     = "any"
	PolicyAtLeast = "at_least"
)

// Values of Service.Failback.
const (
	FailbackAuto   = "auto"
	FailbackManual = "manual"
)

// ServicePathName is the check that asks the service addresses themselves. It
// is made without being configured, so no configured check may be called so.
const ServicePathName = "service-path"

// ServicePath says how the service addresses themselves are asked.
type ServicePath struct {
	Off    bool
	Source netip.Addr // zero: loopback, then the node's own address
}

// Hold bounds the time for which a node that left is only second choice.
type Hold struct {
	Min, Max time.Duration
}

// Check is one configured check. Exactly one of DNS, HTTP, TCP and Exec is
// set, the one that Kind names.
type Check struct {
	probe.Check

	Kind     string
	DNS      *dnsx.Config
	HTTP     *HTTPCheck
	TCP      *TCPCheck
	Exec     *ExecCheck
	Failure  string
	Tripwire string
}

// Values of Check.Kind.
const (
	CheckDNS  = "dns"
	CheckHTTP = "http"
	CheckTCP  = "tcp"
	CheckExec = "exec"
)

// Values of Check.Failure.
const (
	FailureAuto = "auto"
	FailureDead = "dead"
	FailureSick = "sick"
	FailureInfo = "info"
)

// Values of Check.Tripwire.
const (
	TripwireKernel = "kernel"
	TripwireTCP    = "tcp"
	TripwireNone   = "none"
)

// HTTPCheck asks for a page.
type HTTPCheck struct {
	URL    string
	Status []int  // accepted
	Body   string // text that must occur; empty: any
	Follow bool   // redirects
	Trust  probe.Trust
}

// TCPCheck connects.
type TCPCheck struct {
	Address netip.AddrPort
}

// ExecCheck runs a program. Command[0] is an absolute path.
type ExecCheck struct {
	Command []string
}
