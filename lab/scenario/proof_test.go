package scenario

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/load/stub"
	"recuse/lab/result"
)

// short are lengths for a bench that reacts at once; flapping needs its own.
func short(s Scenario) Scenario {
	s.Calm, s.After = Length{Least: 700 * time.Millisecond}, Length{Least: 200 * time.Millisecond}
	s.Fault = Length{Least: 500 * time.Millisecond}
	if s.Name == "flapping" {
		s.Fault = Length{Least: flapDown + flapUp + 500*time.Millisecond}
	}
	return s
}

// fast are the options of a run on a fake: enough questions that each node gets
// its share within a second.
var fast = Options{ID: "x", Scale: 0.01, Rate: 200, Warm: 100 * time.Millisecond, Stub: stub.None(2 * time.Second)}

// atOnce is how many runs are under way at once: they wait more than they work.
const atOnce = 4

// attempts is how often a run is made that a busy box spoils.
const attempts = 5

// play plays a scenario on a fake, anew if the generator was so late that its
// questions met the next phase: a few milliseconds are no matter here.
func play(t *testing.T, s Scenario, raise func() *fake) (run result.Run, err error) {
	for range attempts {
		var records []load.Record
		run, records, err = Play(t.Context(), s, raise(), fast)
		if err == nil && len(records) == 0 {
			err = errors.New("there are no records")
		}
		if err != nil || run.Figures.LateMax < inFlight/2 {
			break
		}
	}
	run.Figures.Void = ""
	run.Void = void(run)
	return run, err
}

// mustPlay is play for the test's own goroutine.
func mustPlay(t *testing.T, s Scenario, f *fake) result.Run {
	t.Helper()
	run, err := play(t, s, func() *fake { return f })
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestProofs plays every scenario twice on every design that it applies to: its
// proof must hold, and must not hold if nobody makes the fault.
func TestProofs(t *testing.T) {
	t.Parallel()
	var runs sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	try := func(s Scenario, design string, want bool) {
		slots <- struct{}{}
		runs.Go(func() {
			defer func() { <-slots }()
			run, err := play(t, short(s), func() *fake { return newFake(t, design, s.Needs.Clients) })
			if err != nil || (run.Void == "") != want {
				t.Errorf("%s of %s, fault made %v: %q %v %+v", s.Name, design, want, run.Void, err, run.Proof)
			}
		})
	}
	for _, design := range []string{Anycast, Relay, Baseline} {
		for _, s := range All() {
			if s.applies(result.Setup{Design: design}) != nil {
				continue
			}
			try(s, design, true)
			if s.Act != nil {
				s.Act, s.During, s.Undo = nil, nil, nil
				try(s, design, false)
			}
		}
	}
	runs.Wait()
}

// TestSteadyProof shows that the control run is void if anything goes wrong in
// it.
func TestSteadyProof(t *testing.T) {
	t.Parallel()
	for _, s := range []Scenario{nodeKilled(), dropsClients(), allSlow(), nodeAdded(false)} {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Proof = steady().Proof
			if s.Name == "all-slow" { // late is not lost: it needs a stall
				s.Act = func(ctx context.Context, r *Run) error {
					b := lost
					b.Failure, b.Delay = "", 1500*time.Millisecond
					return r.each(func(n bench.Node) error { return n.Answers(ctx, b) })
				}
			}
			run := mustPlay(t, short(s), newFake(t, Anycast, 0))
			if run.Void == "" {
				t.Errorf("the proof holds: %+v", run.Proof)
			}
		})
	}
}

// TestWrongNode shows that a fault that met another node than the one that
// served the clients is void.
func TestWrongNode(t *testing.T) {
	t.Parallel()
	s := short(nodeFrozen())
	act := s.Act
	s.Act = func(ctx context.Context, r *Run) error {
		r.Node = r.Bench.Nodes()[2]
		return act(ctx, r)
	}
	// In the baseline only the first node serves.
	run := mustPlay(t, s, newFake(t, Baseline, 0))
	if !strings.Contains(run.Void, "n3 served the clients before the fault") {
		t.Errorf("unexpected reason %q", run.Void)
	}
}

// TestCalm shows that a run is void if something was wrong before its fault.
func TestCalm(t *testing.T) {
	t.Parallel()
	f := newFake(t, Anycast, 0)
	if err := f.nodes[1].DropClients(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	run := mustPlay(t, short(nodeFrozen()), f)
	if !strings.Contains(run.Void, "nothing was wrong before the fault") {
		t.Errorf("unexpected reason %q", run.Void)
	}
}

// TestGeneratorVoid shows that a run of which the load says that it was late is
// void.
func TestGeneratorVoid(t *testing.T) {
	got := void(result.Run{Proof: []result.Proof{{Claim: "a", Holds: true}}, Figures: load.Figures{Void: "the generator was late"}})
	if got != "the generator was late" {
		t.Errorf("unexpected reason %q", got)
	}
}
