package control

import "time"

// Event is one decision, with what it was made from. GET /v1/events gives the
// last 1,000 as JSON lines, and with ?follow=1 the coming ones too.
type Event struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	Service string    `json:"service"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Stance  string    `json:"stance"`
	Reason  string    `json:"reason"`
	Detail  string    `json:"detail"`
	// Others is what was known of the other nodes: seen, nobody or unknown;
	// Nodes are the router-ids of those that were seen.
	Others    string      `json:"others"`
	Nodes     []string    `json:"nodes,omitempty"`
	HoldUntil *time.Time  `json:"hold_until,omitempty"`
	Evidence  []Testimony `json:"evidence"`
}

// Testimony is what one check last saw.
type Testimony struct {
	Check    string  `json:"check"`
	Level    string  `json:"level"`
	Outcome  string  `json:"outcome"`
	RTTMS    float64 `json:"rtt_ms"`
	Failures int     `json:"consecutive_failures"`
	Passes   int     `json:"consecutive_passes"`
}
