package lab_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"recuse/lab/topology"
)

// pauseTime is for how long the agent does not run: longer than a stall that it
// must notice (200 ms), and shorter, with the longest time between two of BFD's
// packets, than BFD's detection time of 900 ms.
const pauseTime = 400 * time.Millisecond

// TestPausedAgent stops an agent for moments.
func TestPausedAgent(t *testing.T) {
	both(t, func(t *testing.T, router string) { pauses(t, guarded(t, topology.Options{Router: router}, nil), 10) })
}

// pauses stops the first node's agent for pauseTime, about once a second: the
// router does not notice, clients do not, and the agent decides nothing.
func pauses(t testing.TB, lab *topology.Lab, times int) {
	t.Helper()
	n := lab.Nodes[0]
	settled(t, lab)
	before, seen := tied(t, lab.Router, n), len(history(t, n))
	client := asking(t, lab, 200)
	var longest time.Duration
	never(t, lab.Router, anycast4, func() {
		for range times {
			longest = max(longest, paused(t, n))
			pass(t, 700*time.Millisecond+rand.N(600*time.Millisecond))
		}
	})
	t.Logf("%d pauses, the longest %v", times, longest.Round(time.Millisecond))
	untouched(t, lab.Router, n, before)
	if list, words := since(history(t, n), seen); len(list) > 0 {
		t.Errorf("the agent decided: %s", words)
	}
	lossless(t, client, 100*times)
}

// paused stops a node's agent for pauseTime and returns for how long it did
// not run. What does it runs before others, so that it is not late itself on a busy box.
func paused(t testing.TB, n *topology.Node) time.Duration {
	t.Helper()
	begin := time.Now()
	_, err := n.Run(t.Context(), "chrt", "--rr", "2", "sh", "-c", fmt.Sprintf("kill -STOP %[1]d; sleep %[2]v; kill -CONT %[1]d",
		n.Agent.PID(), pauseTime.Seconds()))
	must(t, err)
	return time.Since(begin)
}
