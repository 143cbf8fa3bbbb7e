package scenario_test

import (
	"strings"
	"testing"
	"time"

	"recuse/lab/bench"
	"recuse/lab/bench/benchtest"
	"recuse/lab/bench/netns"
	"recuse/lab/load/stub"
	"recuse/lab/result"
	"recuse/lab/scenario"
)

// TestRealProofs plays scenarios on a real bench of each design, first with the
// fault left away: then the proof must not hold.
func TestRealProofs(t *testing.T) {
	for _, design := range []string{scenario.Anycast, scenario.Relay, scenario.Baseline} {
		t.Run(design, func(t *testing.T) {
			t.Parallel()
			b := benchtest.Raise(t, netns.Options{Design: design, Clients: 2})
			scenarios, err := scenario.ByName("node-frozen", "no-lan", "slow-200ms", "drops-clients", "resolver-stopped")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scenarios {
				if s.Applies != nil && s.Applies(b.Setup()) != nil {
					continue
				}
				// Nothing is made, so one bench will do for all.
				s.Act, s.Undo = nil, nil
				s.Fault = scenario.Length{Least: 2 * time.Second}
				if run := play(t, b, s); holds(run) {
					t.Errorf("%s: nobody made the fault, and the proof holds: %+v", s.Name, run.Proof)
				}
			}
			// The last one for real.
			s := scenarios[len(scenarios)-1]
			if run := play(t, b, s); !holds(run) {
				t.Errorf("%s: the fault was made, and the proof does not hold: %+v", s.Name, run.Proof)
			}
		})
	}
}

// play plays a scenario, short.
func play(t *testing.T, b bench.Bench, s scenario.Scenario) result.Run {
	t.Helper()
	s.Calm = scenario.Length{Least: 2 * time.Second}
	s.After = scenario.Length{Least: time.Second}
	run, _, err := scenario.Play(t.Context(), s, b, scenario.Options{ID: s.Name, Scale: 0.01, Rate: 100, Stub: stub.Two()})
	if err != nil || run.LeftOut != "" {
		t.Fatalf("%s: %v %s", s.Name, err, run.LeftOut)
	}
	return run
}

// holds reports whether all of a proof holds, but for what a busy box can spoil:
// that nothing at all was lost in the calm.
func holds(run result.Run) bool {
	for _, p := range run.Proof {
		if !p.Holds && !strings.HasPrefix(p.Claim, "nothing was wrong") {
			return false
		}
	}
	return true
}
