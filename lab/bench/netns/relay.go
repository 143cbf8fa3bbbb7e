package netns

import (
	"regexp"
	"strings"
	"time"

	"recuse/lab/result"
)

// marking is how dnsdist tells that a server of its own changed its state.
var marking = regexp.MustCompile(`Marking downstream (\S+) .*as '(up|down)'`)

// relayEvents are those that lines of dnsdist's log tell. It writes no time:
// they happened just now.
func relayEvents(lines []string) []result.Event {
	var events []result.Event
	for _, line := range lines {
		if m := marking.FindStringSubmatch(line); m != nil {
			events = append(events, result.Event{At: time.Now(), Lane: "relay " + m[1],
				State: strings.ToUpper(m[2]), Text: line})
		}
	}
	return events
}
