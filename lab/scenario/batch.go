package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// Task is one run to be made, on a bench of its own: nothing that an earlier
// fault left behind, a hold that grew say, is in its figures.
type Task struct {
	Scenario Scenario
	Setup    result.Setup // what Raise raises
	Options  Options      // its ID must be unique within the batch
	Raise    func(context.Context, Needs) (bench.Bench, error)
}

// Batch says how tasks are run.
type Batch struct {
	Out  string // directory of the results
	Jobs int    // benches at once; 0 is 1
	// Again is how often a run is made anew of which the generator says that the
	// box was too busy; other reasons would be the same again.
	Again int
	// Step is told what a task does, for the progress; it is called from several
	// goroutines.
	Step func(t Task, text string)
	// Done is told each result, one at a time.
	Done func(result.Run)
}

// Tally is what became of a batch.
type Tally struct {
	Counted int // runs that say something
	Void    int // runs that say nothing
	LeftOut int // scenarios that cannot be on their setup
	Failed  int // runs that an error ended
}

// Run runs the tasks, each result in a directory of its own. An error is that of
// ctx, or of writing the results; what befell a single task is in its result.
func (b Batch) Run(ctx context.Context, tasks []Task) (Tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tally Tally
	var mu sync.Mutex // guards tally, and serialises Done
	work := make(chan Task)
	var workers sync.WaitGroup
	for range max(b.Jobs, 1) {
		workers.Go(func() {
			for t := range work {
				r, err := b.one(ctx, t)
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				tally.add(r)
				if b.Done != nil {
					b.Done(r.Run)
				}
				mu.Unlock()
			}
		})
	}
	for _, t := range tasks {
		select {
		case work <- t:
		case <-ctx.Done():
		}
	}
	close(work)
	workers.Wait()
	return tally, context.Cause(ctx)
}

// ended is a result, and whether an error ended the run.
type ended struct {
	result.Run
	failed bool
}

// add counts a result.
func (t *Tally) add(r ended) {
	switch {
	case r.failed:
		t.Failed++
	case r.LeftOut != "":
		t.LeftOut++
	case r.Void != "":
		t.Void++
	default:
		t.Counted++
	}
}

// one runs a task, as often as it takes, and writes its result.
func (b Batch) one(ctx context.Context, t Task) (ended, error) {
	own := filepath.Join(b.Out, t.Options.ID)
	t.Options.Step = func(text string) {
		if b.Step != nil {
			b.Step(t, text)
		}
	}
	for attempt := 1; ; attempt++ {
		r, records, err := t.run(ctx, own)
		if ctx.Err() != nil {
			return ended{}, context.Cause(ctx)
		}
		if r.Figures.Void != "" && attempt <= b.Again {
			t.Options.say("once more: " + r.Figures.Void)
			if err := os.RemoveAll(own); err != nil {
				return ended{}, fmt.Errorf("failed to remove void run: %w", err)
			}
			continue
		}
		if attempt > 1 {
			r.Notes = append(r.Notes, fmt.Sprintf("run %d times: the box was too busy for the generator before", attempt))
		}
		if err != nil {
			r.LeftOut = "an error ended the run: " + err.Error()
		}
		return ended{r, err != nil}, result.Write(b.Out, r, records)
	}
}

// run raises a bench, plays on it, keeps its logs and takes it down.
func (t Task) run(ctx context.Context, dir string) (r result.Run, records []load.Record, err error) {
	r = t.blank()
	if why := t.Scenario.applies(t.Setup); why != nil {
		r.LeftOut = why.Error()
		return r, nil, nil
	}
	t.Options.say("raising")
	from := time.Now()
	b, err := t.Raise(ctx, t.Scenario.Needs)
	if errors.Is(err, bench.ErrUnsupported) {
		r.LeftOut = err.Error()
		return r, nil, nil
	}
	if err != nil {
		return r, nil, err
	}
	defer func() {
		logs := b.Logs(filepath.Join(dir, result.DirLogs))
		err = errors.Join(err, logs, b.Close())
	}()
	if err := b.Ready(ctx); err != nil {
		return r, nil, fmt.Errorf("failed to raise a bench that serves: %w", err)
	}
	t.Options.say(fmt.Sprintf("raised after %s", time.Since(from).Round(100*time.Millisecond)))
	played, records, err := Play(ctx, t.Scenario, b, t.Options)
	if err != nil {
		return r, nil, err
	}
	return played, records, nil
}

// blank is the result of a run that did not happen.
func (t Task) blank() result.Run {
	s := t.Setup
	s.Stub, s.Rate, s.Scale = t.Options.Stub.Name, t.Options.Rate, t.Options.Scale
	return result.Run{ID: t.Options.ID, Scenario: t.Scenario.Name, Title: t.Scenario.Title,
		Setup: s, Started: time.Now(), Machine: result.Here()}
}
