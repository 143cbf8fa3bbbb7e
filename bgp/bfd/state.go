package bfd

import "fmt"

// A State is the state of one end of a session, with the values that stand
// on the wire (RFC 5880, section 4.1).
type State uint8

// The four states. AdminDown is held down by its own operator, Down has not
// heard the peer, Init hears the peer but does not yet know that the peer
// hears it, and Up knows both.
const (
	AdminDown State = iota
	Down
	Init
	Up
)

// String returns the name of the state in capitals, such as "UP".
func (s State) String() string {
	switch s {
	case AdminDown:
		return "ADMIN_DOWN"
	case Down:
		return "DOWN"
	case Init:
		return "INIT"
	case Up:
		return "UP"
	}
	return fmt.Sprintf("STATE_%d", uint8(s))
}

// MarshalText writes the state as String does, for JSON and logs.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Diag tells why a session last left Init or Up (RFC 5880, section 4.1).
type Diag uint8

// The diagnostics of RFC 5880. This package itself sets DiagNone,
// DiagExpired, DiagNeighborDown and DiagAdminDown; the others may come from
// a peer.
const (
	DiagNone Diag = iota
	DiagExpired
	DiagEchoFailed
	DiagNeighborDown
	DiagForwardingReset
	DiagPathDown
	DiagConcatenatedPathDown
	DiagAdminDown
	DiagReverseConcatenatedPathDown
)

// diagNames holds the RFC's wording, indexed by Diag.
var diagNames = [...]string{
	DiagNone:                        "none",
	DiagExpired:                     "control detection time expired",
	DiagEchoFailed:                  "echo function failed",
	DiagNeighborDown:                "neighbor signaled session down",
	DiagForwardingReset:             "forwarding plane reset",
	DiagPathDown:                    "path down",
	DiagConcatenatedPathDown:        "concatenated path down",
	DiagAdminDown:                   "administratively down",
	DiagReverseConcatenatedPathDown: "reverse concatenated path down",
}

// String returns the RFC's wording in lower case, or the number of a
// diagnostic that RFC 5880 does not name.
func (d Diag) String() string {
	if int(d) < len(diagNames) {
		return diagNames[d]
	}
	return fmt.Sprintf("diagnostic %d", uint8(d))
}

// MarshalText writes the diagnostic as String does.
func (d Diag) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// A Reason tells people and programs why a session changed its state. It is
// finer than Diag, which has one code for two of these and none for others.
type Reason uint8

// The reasons, each of which leads to exactly one state. RFC 5882 asks a
// client of BFD to treat ReasonPeerAdminDown unlike ReasonPeerDown: the
// first says nothing about the path.
const (
	ReasonNone          Reason = iota
	ReasonHeard                // Init: the peer is heard, and is down
	ReasonHears                // Up: the peer hears us
	ReasonPeerDown             // Down: the peer says that it went down
	ReasonPeerAdminDown        // Down: the peer's operator took it down
	ReasonExpired              // Down: nothing heard for a detection time
	ReasonDisabled             // AdminDown: taken down from our side
	ReasonEnabled              // Down: no longer taken down from our side
)

// reasonNames holds the sentence for each Reason.
var reasonNames = [...]string{
	ReasonNone:          "none",
	ReasonHeard:         "the peer is heard",
	ReasonHears:         "the peer hears us",
	ReasonPeerDown:      "the peer says that it is down",
	ReasonPeerAdminDown: "the peer was taken down by its operator",
	ReasonExpired:       "nothing heard for the detection time",
	ReasonDisabled:      "taken down from our side",
	ReasonEnabled:       "no longer taken down from our side",
}

// String returns the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// MarshalText writes the reason as String does.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
