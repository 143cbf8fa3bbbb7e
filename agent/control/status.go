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
}

// Config is the configuration in force.
type Config struct {
	Path         string    `json:"path"`
	LoadedAt     time.Time `json:"loaded_at"`
	LastReloadOK bool      `json:"last_reload_ok"`
}
