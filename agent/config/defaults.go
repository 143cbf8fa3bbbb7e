package config

import "time"

// DefaultPath is the file that is read where none is named.
const DefaultPath = "/etc/recuse/recuse.yaml"

// Defaults of the whole agent. The default of node is the host name; that of
// bgp.router_id is found by the speaker, that of bgp.listen is not to listen.
const (
	DefaultStateDir = "/var/lib/recuse"
	DefaultSocket   = "/run/recuse/recuse.sock"
	DefaultGroup    = "recuse"
	DefaultListen   = "127.0.0.1:9953"
	DefaultLevel    = "info"
	DefaultFormat   = LogText
)

// Defaults of bgp and its peers. An absent bfd is no BFD.
const (
	DefaultPrepend      = 3
	DefaultMED          = 1000
	DefaultPort         = 179
	DefaultHoldTime     = 9 * time.Second
	DefaultConnectRetry = 2 * time.Second

	DefaultBFDInterval   = 300 * time.Millisecond
	DefaultBFDMultiplier = 3
)

// Defaults of a service. The default of its name is that of its link.
const (
	DefaultLink    = "anycast0"
	DefaultKind    = KindDummy
	DefaultWhenOut = WhenOutDown

	DefaultOnDead   = Withdraw
	DefaultOnSick   = Yield
	DefaultOnSlow   = Yield
	DefaultPolicy   = PolicyAll
	DefaultFailback = FailbackAuto

	DefaultSilentAfter  = 3 * time.Second
	DefaultYieldWait    = 3 * time.Second
	DefaultSettle       = 200 * time.Millisecond
	DefaultDrain        = time.Second
	DefaultDrainTimeout = 10 * time.Second
	DefaultHoldMin      = 5 * time.Second
	DefaultHoldMax      = 5 * time.Minute
)

// Defaults of a check. The default of its name is its kind. UnknownAfter is
// how long a check may be unknown before it counts as sick; it is no setting.
const (
	DefaultInterval     = time.Second
	DefaultTimeout      = 500 * time.Millisecond
	DefaultFall         = 3
	DefaultRise         = 5
	DefaultFastInterval = 50 * time.Millisecond // dns and tcp
	DefaultSlowFast     = time.Second           // fast_interval of http and exec
	DefaultTripwire     = TripwireKernel
	DefaultFailure      = FailureAuto
	UnknownAfter        = time.Minute

	DefaultTolerate  = 0.05
	DefaultActAt     = 0.30
	DefaultThreshold = 12

	DefaultDNSServer = "127.0.0.1:53"
	DefaultDNSName   = "{random}.lan"
	DefaultDNSType   = "A"
	DefaultStatus    = 200
)

// defaultRcodes are the codes that say that the path of a local name works.
// Where a value must be in the answer, NXDOMAIN cannot be one of them.
func defaultRcodes(answer bool) []scalar {
	if answer {
		return []scalar{{text: "NOERROR"}}
	}
	return []scalar{{text: "NOERROR"}, {text: "NXDOMAIN"}}
}

// defaultAlive are the questions that a server can answer with no upstream.
func defaultAlive() []string {
	return []string{"id.server CH TXT", ". NS", "localhost A", "healthcheck.adguardhome.test A"}
}
