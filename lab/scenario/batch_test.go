package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// task is a short run on a fake of the anycast design.
func task(t *testing.T, id string, s Scenario) Task {
	o := fast
	o.ID = id
	return Task{Scenario: short(s), Setup: result.Setup{Design: Anycast}, Options: o,
		Raise: func(_ context.Context, n Needs) (bench.Bench, error) { return newFake(t, Anycast, n.Clients), nil }}
}

// TestBatch runs what counts, what is void, what cannot be and what fails, and
// reads all of it back.
func TestBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unmade := nodeFrozen()
	unmade.Act = nil
	unsupported := nodeFrozen()
	unsupported.Act = func(context.Context, *Run) error { return fmt.Errorf("a freeze: %w", bench.ErrUnsupported) }
	broken := nodeFrozen()
	broken.Act = func(context.Context, *Run) error { return errors.New("the lab broke") }
	elsewhere := task(t, "elsewhere", agentKilled())
	elsewhere.Setup.Design = Baseline
	unraised := task(t, "unraised", steady())
	unraised.Raise = func(context.Context, Needs) (bench.Bench, error) { return nil, errors.New("no root") }
	tasks := []Task{task(t, "good", nodeFrozen()), task(t, "unmade", unmade), task(t, "unsupported", unsupported),
		task(t, "broken", broken), elsewhere, unraised}

	var steps, done atomic.Int32
	b := Batch{Out: dir, Jobs: 3, Step: func(Task, string) { steps.Add(1) }, Done: func(result.Run) { done.Add(1) }}
	tally, err := b.Run(t.Context(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	// A box that is too busy makes the good run void too.
	if tally.Void == 2 {
		tally.Void, tally.Counted = 1, 1
	}
	if diff := cmp.Diff(Tally{Counted: 1, Void: 1, LeftOut: 2, Failed: 2}, tally); diff != "" {
		t.Errorf("unexpected tally (-want +got):\n%s", diff)
	}
	if steps.Load() == 0 || int(done.Load()) != len(tasks) {
		t.Errorf("told of %d steps and %d results", steps.Load(), done.Load())
	}
	runs, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"good": "", "unmade": "", "unsupported": "not possible on this bench",
		"broken": "action: the lab broke", "elsewhere": "the design baseline has no agent", "unraised": "no root"}
	for _, r := range runs {
		if !strings.Contains(r.LeftOut, want[r.ID]) || (r.LeftOut == "") != (want[r.ID] == "") {
			t.Errorf("%s: left out for %q, want %q", r.ID, r.LeftOut, want[r.ID])
		}
		if r.LeftOut == "" {
			checkWhole(t, r)
		}
	}
	if len(runs) != len(tasks) {
		t.Errorf("%d of %d runs were written", len(runs), len(tasks))
	}
}

// checkWhole looks at what a run left behind.
func checkWhole(t *testing.T, r result.Run) {
	t.Helper()
	var names []string
	for _, p := range r.Phases {
		names = append(names, p.Name)
		if !p.To.After(p.From) {
			t.Errorf("%s: %s ends before it begins", r.ID, p.Name)
		}
	}
	if diff := cmp.Diff([]string{Calm, Action, Fault, Revert, After}, names); diff != "" {
		t.Errorf("%s: unexpected phases (-want +got):\n%s", r.ID, diff)
	}
	records, err := r.Records()
	if err != nil {
		t.Fatal(err)
	}
	window := load.Window(records, r.Phases[0].From, r.Phases[4].To)
	if len(window) != r.Figures.Asked || len(window) < 100 {
		t.Errorf("%s: %d records and %d asked", r.ID, len(window), r.Figures.Asked)
	}
	sum := 0
	for _, f := range r.ByPhase {
		sum += f.Asked
	}
	if sum != r.Figures.Asked {
		t.Errorf("%s: %d asked in its phases, %d in all", r.ID, sum, r.Figures.Asked)
	}
	if !slices.IsSortedFunc(r.Events, func(a, b result.Event) int { return a.At.Compare(b.At) }) {
		t.Errorf("%s: events out of order", r.ID)
	}
	if r.Machine.Cores == 0 || r.Setup.Stub == "" || len(r.Proof) == 0 {
		t.Errorf("%s: no machine, stub or proof: %+v", r.ID, r)
	}
}

// TestBatchAgain shows that a run that the generator spoiled is made again, and
// says so.
func TestBatchAgain(t *testing.T) {
	t.Parallel()
	spoilt := task(t, "spoilt", steady())
	spoilt.Options.Rate = 20
	raised := 0
	raise := spoilt.Raise
	spoilt.Raise = func(ctx context.Context, n Needs) (bench.Bench, error) {
		raised++
		b, err := raise(ctx, n)
		return unsendable{b.(*fake)}, err
	}
	dir := t.TempDir()
	tally, err := Batch{Out: dir, Again: 2}.Run(t.Context(), []Task{spoilt})
	if err != nil || tally != (Tally{Void: 1}) {
		t.Fatalf("tally %+v, error %v", tally, err)
	}
	runs, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if raised != 3 || len(runs) != 1 || !strings.Contains(strings.Join(runs[0].Notes, " "), "run 3 times") {
		t.Errorf("raised %d times: %+v", raised, runs)
	}
}

// unsendable is a bench of which every second client has an address that is not
// this box's.
type unsendable struct{ *fake }

// Network cannot be used by every second client.
func (unsendable) Network(i int) load.Network {
	if i%2 == 0 {
		return load.Network{}
	}
	return load.Network{Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
}

// TestBatchInterrupted shows that an interrupt ends a batch early, with the end
// of the bench, and leaves no half result that a report would read.
func TestBatchInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	s := nodeFrozen()
	s.Act = func(context.Context, *Run) error { stop(); return nil }
	s.Fault = Length{Least: time.Hour}
	dir := t.TempDir()
	long := task(t, "long", s)
	long.Scenario.Fault = s.Fault
	closed := false
	raise := long.Raise
	long.Raise = func(ctx context.Context, n Needs) (bench.Bench, error) {
		b, err := raise(ctx, n)
		return closing{b.(*fake), &closed}, err
	}
	if _, err := (Batch{Out: dir}).Run(ctx, []Task{long, task(t, "never", s)}); !errors.Is(err, context.Canceled) {
		t.Errorf("unexpected error %v", err)
	}
	if !closed {
		t.Error("the bench was not closed")
	}
	for _, id := range []string{"long", "never"} {
		if _, err := os.Stat(filepath.Join(dir, id, result.FileRun)); err == nil {
			t.Errorf("%s has a result", id)
		}
	}
}

// closing is a bench that tells of its end.
type closing struct {
	*fake
	closed *bool
}

// Close tells it.
func (c closing) Close() error { *c.closed = true; return nil }
