package doctor

import "fmt"

// Severity says what a finding means for the service.
type Severity uint8

// The severities, the worst first.
const (
	// Error: it breaks the service, or does so as soon as the node leaves.
	Error Severity = iota
	// Warning: it breaks the service under a condition that is likely to come.
	Warning
	// Unknown: it could not be looked at.
	Unknown
	// Note: worth to be known, and wrong only if it is not meant.
	Note
)

// severities are the words for each Severity.
var severities = [...]string{"error", "warning", "unknown", "note"}

// String gives the word for people and for JSON.
func (s Severity) String() string {
	if int(s) >= len(severities) {
		return fmt.Sprintf("severity(%d)", uint8(s))
	}
	return severities[s]
}

// MarshalText writes the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing that an examination found.
type Finding struct {
	Examination string   `json:"examination"`
	Severity    Severity `json:"severity"`
	// Seen is where it was seen, and the value.
	Seen string `json:"seen"`
	// Why says what it does to anycast.
	Why string `json:"why"`
	// WayOut is the command or the setting that ends it.
	WayOut string `json:"way_out"`
}

// Report is what all examinations found, the worst first.
type Report struct {
	Examinations []string  `json:"examinations"`
	Findings     []Finding `json:"findings"`
}

// Count returns how many findings are of a severity.
func (r Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Healthy tells whether everything was looked at and nothing is wrong. A note is
// nothing wrong.
func (r Report) Healthy() bool { return r.Count(Note) == len(r.Findings) }

// unread is the finding for what could not be looked at.
func unread(err error, why string) []Finding {
	return []Finding{{Severity: Unknown, Seen: err.Error(), Why: why,
		WayOut: "run it as root, beside the agent; else the message names what is missing"}}
}
