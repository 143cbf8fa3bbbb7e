// Package pace is what every bench configures alike on its nodes: how fast BFD
// and the checks of recuse go, and how the resolvers keep what they know.
package pace

import (
	"fmt"
	"strings"
	"time"

	"recuse/lab/topology"
)

// The checks of recuse as fast as its settings go.
const (
	TunedInterval = 100 * time.Millisecond
	TunedTimeout  = 150 * time.Millisecond
)

// BFD is that of all sessions: as users have it, or as fast as it goes.
func BFD(tuned bool) *topology.BFD {
	if tuned {
		return &topology.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}
	}
	return &topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}
}

// Recuse changes a node's recuse.yaml: a log that the lab can read, and if asked
// the fastest settings.
func Recuse(config map[string]any, tuned bool) {
	config["log"] = map[string]any{"format": "json"}
	if !tuned {
		return
	}
	s := config["services"].([]any)[0].(map[string]any)
	c := s["checks"].([]any)[0].(map[string]any)
	c["interval"], c["timeout"] = TunedInterval.String(), TunedTimeout.String()
}

// Unbound is what is added to the server section of unbound: whether it answers
// from what has expired, and for how long it keeps answers at most (0: as long as
// they say).
func Unbound(stale bool, maxTTL time.Duration) string {
	var b strings.Builder
	if stale {
		b.WriteString("serve-expired: yes\n")
	}
	if maxTTL > 0 {
		fmt.Fprintf(&b, "cache-max-ttl: %d\n", int(maxTTL.Seconds()))
	}
	return b.String()
}
