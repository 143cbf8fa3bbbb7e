package control

import "time"

// Status is the answer to GET /v1/status, and what `recuse status --json`
// prints. Durations bear their unit in the name.
type Status struct {
	Node     string    `json:"node"`
	Version  string    `json:"version"`
	RouterID string    `json:"router_id"`
	Services []Service `json:"services"`
	Peers    []Peer    `json:"peers"`
	Config   Config    `json:"config"`
	// Alarms are what an operator should mend though no route hangs on it.
	Alarms []string `json:"alarms"`
}

// Service is one service as the agent sees it.
type Service struct {
	Name string `json:"name"`
	// Stance is announced or depreferred only while an established peer has
	// the route.
	Stance string `json:"stance"`
	Level  string `json:"level"`
	// Admin is enabled or drained.
	Admin  string    `json:"admin"`
	Phase  string    `json:"phase"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	// HoldUntil is when a hold ends; null without one.
	HoldUntil *time.Time `json:"hold_until"`
	// Others are the router-ids of the other nodes that announce the service.
	Others []string `json:"others"`
	// OthersKnown is seen, nobody or unknown.
	OthersKnown string    `json:"others_known"`
	Link        Link      `json:"link"`
	Addresses   []Address `json:"addresses"`
	Checks      []Check   `json:"checks"`
	// Decisions counts the changes so far, by where they led and why.
	Decisions []Decision `json:"decisions"`
}

// Decision is a kind of change, and how often it was made.
type Decision struct {
	To     string `json:"to"`
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
}

// Link is the interface that carries the service addresses.
type Link struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Up   bool   `json:"up"`
	// Error says why the link cannot be brought into the wanted state.
	Error string `json:"error,omitempty"`
}

// Address is one service address.
type Address struct {
	Prefix    string `json:"prefix"`
	Present   bool   `json:"present"`
	Announced bool   `json:"announced"`
}

// Check is one check of a service.
type Check struct {
	Name   string  `json:"name"`
	Level  string  `json:"level"`
	Reason string  `json:"reason"`
	Last   *Result `json:"last"`
	// Failures and Passes count since the last result of the other sort.
	Failures int `json:"consecutive_failures"`
	Passes   int `json:"consecutive_passes"`
	// The percentiles are of the last Samples results.
	P50MS      float64 `json:"p50_ms"`
	P95MS      float64 `json:"p95_ms"`
	P99MS      float64 `json:"p99_ms"`
	Samples    int     `json:"samples"`
	SlowOverMS float64 `json:"slow_over_ms"`
}

// Result is what the last probe of a check saw.
type Result struct {
	At      time.Time `json:"at"`
	RTTMS   float64   `json:"rtt_ms"`
	Outcome string    `json:"outcome"`
	// Expires is when the server's certificate ends, of those that show one.
	Expires *time.Time `json:"expires,omitempty"`
}

// Peer is one BGP neighbour.
type Peer struct {
	Address string `json:"address"`
	ASN     uint32 `json:"asn"`
	// State is the session's state in the words of RFC 4271: IDLE, CONNECT,
	// ACTIVE, OPENSENT, OPENCONFIRM, ESTABLISHED.
	State string    `json:"state"`
	Since time.Time `json:"since"`
	// Error says why the session is not established, or what is withheld.
	Error string `json:"error,omitempty"`
	// EndOfRIB is when the router had sent all that it knew; null: not yet, or no
	// session.
	EndOfRIB *time.Time `json:"end_of_rib"`
	// Marked tells that the router has ever sent a route with a node's mark,
	// Unmarked that the last one to a prefix of ours came without.
	Marked   bool `json:"marked"`
	Unmarked bool `json:"unmarked"`
	// BFD is null for a peer without it.
	BFD *BFD `json:"bfd"`
}

// BFD is the session of RFC 5880 beside a BGP session.
type BFD struct {
	// State and Remote are ADMIN_DOWN, DOWN, INIT or UP: ours, and what the
	// peer says of its own.
	State  string    `json:"state"`
	Remote string    `json:"remote_state"`
	Since  time.Time `json:"since"`
	// DetectMS is the silence after which the peer counts as gone.
	DetectMS         float64 `json:"detect_ms"`
	IntervalMS       float64 `json:"interval_ms"`
	RemoteIntervalMS float64 `json:"remote_interval_ms"`
	Multihop         bool    `json:"multihop"`
	LocalDiag        string  `json:"local_diag"`
	RemoteDiag       string  `json:"remote_diag"`
	Sent             uint64  `json:"packets_out"`
	Received         uint64  `json:"packets_in"`
	// Discarded counts refused packets by reason.
	Discarded map[string]uint64 `json:"packets_discarded"`
	// Withheld counts packets not sent because the agent did not decide.
	Withheld uint64 `json:"packets_withheld"`
	// WorstLateMS is the worst lateness of our own sending.
	WorstLateMS float64 `json:"worst_late_ms"`
	// Scheduling is how the kernel schedules this process.
	Scheduling  string       `json:"scheduling"`
	Transitions []Transition `json:"transitions"`
	// Error says why it is not up.
	Error string `json:"error,omitempty"`
}

// Transition is one change of a BFD session's state.
type Transition struct {
	At     time.Time `json:"at"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
}

// Config is the configuration in force.
type Config struct {
	Path         string    `json:"path"`
	LoadedAt     time.Time `json:"loaded_at"`
	LastReloadOK bool      `json:"last_reload_ok"`
}
