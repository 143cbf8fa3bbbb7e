package lab_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recuse/lab/topology"
)

// pauseTime is for how long the agent does not run: longer than a stall that it
// must notice (200 ms), and shorter, with the longest time between two of BFD's
// packets, than BFD's detection time of 900 ms.
const pauseTime = 400 * time.Millisecond

// pauseMost is the longest pause that says something of the agent, and
// pauseTrials how many runs may say nothing.
const (
	pauseMost   = 450 * time.Millisecond
	pauseTrials = 3
)

// TestPausedAgent stops an agent for moments.
func TestPausedAgent(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		pauses(t, guarded(t, topology.Options{Router: router}, func(_ int, c tree) { unhurried(c) }), 10)
	})
}

// pauses stops the first node's agent for pauseTime, about once a second: the
// router does not notice, clients do not, and the agent decides nothing. 200 ms
// more are too many, so a run in which the box itself stood still is made again:
// a pause was too long then, or the second node lost its sessions too.
func pauses(t testing.TB, lab *topology.Lab, times int) {
	t.Helper()
	settled(t, lab)
	for range pauseTrials {
		trouble, void := pausing(t, lab, times)
		switch {
		case trouble == "":
			return
		case !void:
			t.Error(trouble)
			return
		}
		t.Logf("the box itself stood still, so this says nothing: %s", trouble)
		serving(t, lab)
	}
	t.Errorf("the box itself stood still in each of %d runs", pauseTrials)
}

// pausing makes one run, and says what went wrong and whether that says nothing
// of the agent.
func pausing(t testing.TB, lab *topology.Lab, times int) (trouble string, void bool) {
	t.Helper()
	n, other := lab.Nodes[0], lab.Nodes[1]
	before, beside, seen := tied(t, lab.Router, n), tied(t, lab.Router, other), len(history(t, n))
	client, longest := asking(t, lab, 200), time.Duration(0)
	for range times {
		longest = max(longest, pause(t, n))
		pass(t, 700*time.Millisecond+rand.N(600*time.Millisecond))
	}
	f := reported(t, client, fmt.Sprintf("%d pauses, the longest %v", times, longest.Round(time.Millisecond)))
	if f.Asked < 100*times || f.Lost+f.Bad > 0 {
		trouble += fmt.Sprintf("of %d questions %d were lost, %d got failures; ", f.Asked, f.Lost, f.Bad)
	}
	if list, words := since(history(t, n), seen); len(list) > 0 {
		trouble += "the agent decided: " + words + "; "
	}
	round := cmpopts.EquateApproxTime(birdRounds)
	trouble += cmp.Diff(before, tied(t, lab.Router, n), round)
	return trouble, longest > pauseMost || !cmp.Equal(beside, tied(t, lab.Router, other), round)
}

// pause stops a node's agent for pauseTime and returns for how long it did not
// run. What does it runs before others, so as not to be late on a busy box.
func pause(t testing.TB, n *topology.Node) time.Duration {
	t.Helper()
	begin := time.Now()
	_, err := n.Run(t.Context(), "chrt", "--rr", "2", "sh", "-c",
		fmt.Sprintf("kill -STOP %[1]d; sleep %[2]v; kill -CONT %[1]d", n.Agent.PID(), pauseTime.Seconds()))
	must(t, err)
	return time.Since(begin)
}
