package config

// scalar is the text of one setting as it was written. A nil *scalar is a
// setting that is absent.
type scalar struct {
	text string
	env  bool // from the environment, not from the file
}

// The raw structs name every key that a file may have; document.go walks a
// file along them. A struct with a field of the key "=" may also be written
// as a single value, which that field then holds.

// rawConfig is a whole file.
type rawConfig struct {
	Node     *scalar      `yaml:"node"`
	StateDir *scalar      `yaml:"state_dir"`
	Control  rawControl   `yaml:"control"`
	HTTP     rawHTTP      `yaml:"http"`
	Log      rawLog       `yaml:"log"`
	BGP      rawBGP       `yaml:"bgp"`
	Services []rawService `yaml:"services"`
}

// rawControl is the section control.
type rawControl struct {
	Socket *scalar `yaml:"socket"`
	Group  *scalar `yaml:"group"`
}

// rawHTTP is the section http.
type rawHTTP struct {
	Listen *scalar `yaml:"listen"`
}

// rawLog is the section log.
type rawLog struct {
	Level  *scalar `yaml:"level"`
	Format *scalar `yaml:"format"`
}

// rawBGP is the section bgp.
type rawBGP struct {
	ASN         *scalar     `yaml:"asn"`
	RouterID    *scalar     `yaml:"router_id"`
	Listen      *scalar     `yaml:"listen"`
	Communities []scalar    `yaml:"communities"`
	Deprefer    rawDeprefer `yaml:"deprefer"`
	Peers       []rawPeer   `yaml:"peers"`
}

// rawDeprefer is bgp.deprefer.
type rawDeprefer struct {
	Prepend *scalar `yaml:"prepend"`
	MED     *scalar `yaml:"med"`
}

// rawPeer is one of bgp.peers.
type rawPeer struct {
	Address      *scalar  `yaml:"address"`
	ASN          *scalar  `yaml:"asn"`
	Port         *scalar  `yaml:"port"`
	LocalAddress *scalar  `yaml:"local_address"`
	Interface    *scalar  `yaml:"interface"`
	PasswordFile *scalar  `yaml:"password_file"`
	TTLSecurity  *scalar  `yaml:"ttl_security"`
	Multihop     *scalar  `yaml:"multihop"`
	Communities  []scalar `yaml:"communities"`
	NextHopV4    *scalar  `yaml:"next_hop_v4"`
	NextHopV6    *scalar  `yaml:"next_hop_v6"`
	HoldTime     *scalar  `yaml:"hold_time"`
	ConnectRetry *scalar  `yaml:"connect_retry"`
	BFD          *rawBFD  `yaml:"bfd"`
}

// rawBFD is bfd of a peer.
type rawBFD struct {
	Interval   *scalar `yaml:"interval"`
	Multiplier *scalar `yaml:"multiplier"`
	Strict     *scalar `yaml:"strict"`
}

// rawService is one of services.
type rawService struct {
	Name         *scalar         `yaml:"name"`
	Addresses    []scalar        `yaml:"addresses"`
	Announce     []scalar        `yaml:"announce"`
	Link         rawLink         `yaml:"link"`
	Checks       []rawCheck      `yaml:"checks"`
	On           rawOn           `yaml:"on"`
	Policy       *rawPolicy      `yaml:"policy"`
	SilentAfter  *scalar         `yaml:"silent_after"`
	YieldWait    *scalar         `yaml:"yield_wait"`
	Settle       *scalar         `yaml:"settle"`
	Drain        *scalar         `yaml:"drain"`
	DrainTimeout *scalar         `yaml:"drain_timeout"`
	DrainFile    *scalar         `yaml:"drain_file"`
	ServicePath  *rawServicePath `yaml:"service_path"`
	Hold         rawHold         `yaml:"hold"`
	Failback     *scalar         `yaml:"failback"`
}

// rawLink is link of a service.
type rawLink struct {
	Name    *scalar `yaml:"name"`
	Kind    *scalar `yaml:"kind"`
	WhenOut *scalar `yaml:"when_out"`
}

// rawOn is on of a service.
type rawOn struct {
	Dead *scalar `yaml:"dead"`
	Sick *scalar `yaml:"sick"`
	Slow *scalar `yaml:"slow"`
}

// rawPolicy is policy of a service: a word, or {at_least: N}.
type rawPolicy struct {
	Word    *scalar `yaml:"="`
	AtLeast *scalar `yaml:"at_least"`
}

// rawServicePath is service_path of a service: true, false, or {source: A}.
type rawServicePath struct {
	Word   *scalar `yaml:"="`
	Source *scalar `yaml:"source"`
}

// rawHold is hold of a service.
type rawHold struct {
	Min *scalar `yaml:"min"`
	Max *scalar `yaml:"max"`
}

// rawCheck is one of the checks of a service.
type rawCheck struct {
	Name         *scalar       `yaml:"name"`
	DNS          *rawDNS       `yaml:"dns"`
	HTTP         *rawHTTPCheck `yaml:"http"`
	TCP          *rawTCPCheck  `yaml:"tcp"`
	Exec         *rawExecCheck `yaml:"exec"`
	Interval     *scalar       `yaml:"interval"`
	Timeout      *scalar       `yaml:"timeout"`
	Fall         *scalar       `yaml:"fall"`
	Rise         *scalar       `yaml:"rise"`
	FastInterval *scalar       `yaml:"fast_interval"`
	Slow         rawSlow       `yaml:"slow"`
	Tripwire     *scalar       `yaml:"tripwire"`
	Failure      *scalar       `yaml:"failure"`
}

// rawDNS is dns of a check.
type rawDNS struct {
	Server *scalar  `yaml:"server"`
	Name   *scalar  `yaml:"name"`
	Type   *scalar  `yaml:"type"`
	Rcode  []scalar `yaml:"rcode"`
	SOA    *scalar  `yaml:"soa"`
	Answer *scalar  `yaml:"answer"`
	Alive  []scalar `yaml:"alive"`

	ServerName *scalar  `yaml:"server_name"`
	CAFile     *scalar  `yaml:"ca_file"`
	Pin        []scalar `yaml:"pin"`
	Insecure   *scalar  `yaml:"insecure"`
}

// rawHTTPCheck is http of a check.
type rawHTTPCheck struct {
	URL    *scalar  `yaml:"url"`
	Status []scalar `yaml:"status"`
	Body   *scalar  `yaml:"body"`
	Follow *scalar  `yaml:"follow"`

	ServerName *scalar  `yaml:"server_name"`
	CAFile     *scalar  `yaml:"ca_file"`
	Pin        []scalar `yaml:"pin"`
	Insecure   *scalar  `yaml:"insecure"`
}

// rawTCPCheck is tcp of a check.
type rawTCPCheck struct {
	Address *scalar `yaml:"address"`
}

// rawExecCheck is exec of a check.
type rawExecCheck struct {
	Command []scalar `yaml:"command"`
}

// rawSlow is slow of a check.
type rawSlow struct {
	Over      *scalar `yaml:"over"`
	Tolerate  *scalar `yaml:"tolerate"`
	ActAt     *scalar `yaml:"act_at"`
	Threshold *scalar `yaml:"threshold"`
}
