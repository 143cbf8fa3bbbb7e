//go:build incus

package incus_test

import (
	"os"
	"strings"
	"testing"

	"recuse/lab/incus"
	"recuse/lab/load/stub"
	"recuse/lab/scenario"
)

// scenarios is an environment variable: the names of the scenarios to play,
// with commas, or "all"; one is played without it.
const scenarios = "RECUSE_TEST_SCENARIOS"

// TestScenario plays scenarios as short as they go. Each must prove that its
// fault met the node that served, and the clients must be served before it.
func TestScenario(t *testing.T) {
	names := []string{"node-killed"}
	if text := os.Getenv(scenarios); text == "all" {
		names = nil
	} else if text != "" {
		names = strings.Split(text, ",")
	}
	list, err := scenario.ByName(names...)
	must(t, err)
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) { play(t, s) })
	}
}

// play plays one scenario on a bench of its own.
func play(t *testing.T, s scenario.Scenario) {
	b := raise(t, incus.Options{ServeStale: s.Needs.ServeStale, MaxTTL: s.Needs.MaxTTL, Clients: max(4, s.Needs.Clients)})
	r, records, err := scenario.Play(t.Context(), s, b, scenario.Options{
		ID: "incus", Scale: 0.1, Rate: 50, Stub: stub.None(stub.NoneTimeout),
		Step: func(text string) { t.Log(text) },
	})
	must(t, err)
	for _, p := range r.Proof {
		t.Logf("%v: %s: %s", p.Holds, p.Claim, p.Evidence)
	}
	if r.Setup.Backend != "incus" {
		t.Errorf("backend %q", r.Setup.Backend)
	}
	t.Logf("%d records, %d events, figures %+v, notes %q", len(records), len(r.Events), r.Figures, r.Notes)
	if r.Void != "" {
		t.Errorf("the run is void: %s", r.Void)
	}
}
