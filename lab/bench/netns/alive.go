package netns

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"recuse/lab/result"
	"recuse/lab/topology"
)

// aliveEvery is the pause between two looks at an agent's process.
const aliveEvery = 20 * time.Millisecond

// How an agent's process stands.
const (
	processRuns   = "running"
	processFrozen = "frozen"
	processGone   = result.StateGone
)

// watchProcess tells when a node's agent is gone or frozen, of which its log says
// nothing: the lanes that the log fills would stay as they were.
func (o *observer) watchProcess(ctx context.Context, n *topology.Node) {
	was := ""
	o.poll(ctx, aliveEvery, func(_ context.Context, at time.Time, tell func(result.Event)) {
		now := processGone
		if n.Agent.Running() {
			now = stateOf(n.Agent.PID())
		}
		if was == "" {
			if now == processGone {
				return
			}
			was = processRuns
		}
		if now == was {
			return
		}
		for _, e := range processEvents(n.ShortName, now, at) {
			tell(e)
		}
		was = now
	})
}

// stateOf is whether a process runs or is stopped, by the kernel's process table
// (proc_pid_stat(5): the state follows the name in parentheses).
func stateOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processGone
	}
	if i := strings.LastIndex(string(stat), ") "); i >= 0 && strings.HasPrefix(string(stat[i+2:]), "T") {
		return processFrozen
	}
	return processRuns
}

// processEvents are what the state means to the agent's lanes. A frozen agent
// goes on where it was, one that starts anew begins with nothing.
func processEvents(node, state string, at time.Time) []result.Event {
	var events []result.Event
	for _, lane := range []string{"checks", "stance", "bgp", "bfd"} {
		events = append(events, result.Event{At: at, Lane: node + " " + lane, Part: "process", State: state})
	}
	return events
}
