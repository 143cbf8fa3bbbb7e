package lab_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"recuse/lab/topology"
)

// box is all that an agent could have changed on a node: links, addresses,
// routes of all tables and rules, as ip(8) prints them.
func box(t testing.TB, n *topology.Node) string {
	t.Helper()
	var b strings.Builder
	for _, question := range []string{
		"ip -d -o link", "ip -o addr", "ip route show table all", "ip -6 route show table all",
		"ip rule", "ip -6 rule",
	} {
		code, out := program(t, n, strings.Fields(question)...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", question, code, out)
		}
		b.WriteString("# " + question + "\n" + out)
	}
	return passing.ReplaceAllString(b.String(), "")
}

// passing is what changes by itself: what a bridge counts down, and how ip names
// the namespace at the other end, which it looks for among those of all labs.
var passing = regexp.MustCompile(`\w+_timer +[0-9.]+ |link-netns(id)? \S+ |Error: Peer netns reference is invalid\.\n`)

// links is a record of a node's changes of links, with the time of each.
type links struct {
	t    testing.TB
	path string
}

// linkMonitor begins to record the changes of the node's links.
func linkMonitor(t testing.TB, n *topology.Node) *links {
	t.Helper()
	l := &links{t: t, path: filepath.Join(t.TempDir(), "links")}
	background(t, n, "sh", "-c", "exec ip -ts -o monitor link >"+l.path)
	up := false // a first line, which the monitor must have seen, says that it watches
	eventually(t, "ip monitor begin", func() (bool, string) {
		up = !up
		state := map[bool]string{true: "on", false: "off"}[up]
		program(t, n, "ip", "link", "set", "lo", "multicast", state)
		return len(l.lines(" lo")) > 0, "nothing"
	})
	program(t, n, "ip", "link", "set", "lo", "multicast", "off") // as it was
	return l
}

// lines are the lines about an interface.
func (l *links) lines(device string) (list []string) {
	text, _ := os.ReadFile(l.path) // not there yet: no lines
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(line, "\n") && strings.Contains(line, device) {
			list = append(list, line)
		}
	}
	return list
}

// down waits until an interface, which was up, has gone down, and returns when.
func (l *links) down(device string) time.Time {
	l.t.Helper()
	var at time.Time
	eventually(l.t, device+" go down", func() (bool, string) {
		lines := l.lines(" " + device + ":")
		for _, line := range lines {
			if !strings.Contains(line, ",UP") {
				at = stamp(l.t, line)
				return true, ""
			}
		}
		return false, strings.Join(lines, "")
	})
	return at
}

// stamp reads the time that ip -ts puts before a line, in local time:
// "[2026-01-02T15:04:05.000000] ".
func stamp(t testing.TB, line string) time.Time {
	t.Helper()
	text, _, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
	at, err := time.ParseInLocation("2006-01-02T15:04:05.000000", text, time.Local)
	must(t, err)
	return at
}
