// Package follow makes events of what programs log while they run.
package follow

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"recuse/lab/result"
)

// lookEvery is the pause between two looks at a log. What bears no time of its
// own is dated by the look.
const lookEvery = 20 * time.Millisecond

// Log tells what a file of lines says until ctx ends: of each lane, and each part
// of one, how it stands now, then every change. read makes events of lines.
func Log(ctx context.Context, path string, read func(lines []string) []result.Event, tell func(result.Event)) {
	t := &tail{path: path}
	last, now := map[string]result.Event{}, time.Now()
	for _, e := range read(t.lines()) {
		e.At = now
		last[e.Lane+" "+e.Part] = e
	}
	for _, lane := range slices.Sorted(maps.Keys(last)) {
		tell(last[lane])
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		for _, e := range read(t.lines()) {
			tell(e)
		}
	}
}

// tail reads a file that grows.
type tail struct {
	path string
	at   int64
	rest string // a line that has not ended
}

// lines are those that have come since the last call.
func (t *tail) lines() []string {
	f, err := os.Open(t.path)
	if err != nil {
		return nil // nothing is logged yet
	}
	defer f.Close()
	var b strings.Builder
	buf := make([]byte, 1<<16)
	for {
		k, err := f.ReadAt(buf, t.at)
		b.Write(buf[:k])
		t.at += int64(k)
		if err != nil {
			break
		}
	}
	all := strings.Split(t.rest+b.String(), "\n")
	t.rest = all[len(all)-1]
	return all[:len(all)-1]
}

// Line is one line of recuse's log in JSON, as far as it is shown.
type Line struct {
	Time    time.Time `json:"time"`
	Message string    `json:"msg"`
	Check   string    `json:"check"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Stance  string    `json:"stance"`
	Reason  string    `json:"reason"`
	Detail  string    `json:"detail"`
}

// Recuse makes events of lines that recuse logged as JSON on a node.
func Recuse(node string, lines []string) []result.Event {
	var events []result.Event
	for _, line := range lines {
		var l Line
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		if e, ok := l.event(); ok {
			e.Lane = node + " " + e.Lane
			events = append(events, e)
		}
	}
	return events
}

// event is what the line tells, its lane without the node.
func (l Line) event() (result.Event, bool) {
	e := result.Event{At: l.Time, Text: strings.TrimSpace(l.Reason + " " + l.Detail)}
	switch l.Message {
	case "service changed":
		e.Lane, e.State = "stance", l.Stance
	case "check changed":
		e.Lane, e.Part, e.State, e.Text = "checks", l.Check, l.To, l.Check+": "+e.Text
	case "bgp session established":
		e.Lane, e.State, e.Text = "bgp", "UP", l.Message
	case "bgp session down", "bgp session closed":
		e.Lane, e.State = "bgp", "DOWN"
	case "bfd session changed its state":
		e.Lane, e.State = "bfd", l.To
	case "agent started", "agent stops":
		e.Lane, e.Text = "stance", l.Message
	default:
		return e, false
	}
	return e, true
}
