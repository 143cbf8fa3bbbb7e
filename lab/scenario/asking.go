package scenario

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"recuse/lab/load"
)

// warmFor is how long the clients ask before anything counts: caches, neighbour
// tables and the programs themselves are cold at first.
const warmFor = 1500 * time.Millisecond

// asking is the load of all clients under way.
type asking struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	answers map[string]int // so far, by node
	parts   [][]load.Record
	errs    []error
}

// configs are the loads of a run: each has its share of the clients and of the
// rate. first is the number of a load's first client.
func (r *Run) configs() (configs []load.Config, first []int) {
	loads := r.scenario.Load
	if len(loads) == 0 {
		loads = []Load{{Transport: r.options.Transport}}
	}
	n := r.Bench.Clients()
	for i, l := range loads {
		from, to := i*n/len(loads), (i+1)*n/len(loads)
		if from == to { // fewer clients than loads
			from, to = 0, n
		}
		c := load.Config{Servers: r.Bench.Servers(), Rate: r.options.Rate / float64(len(loads)),
			Mix: l.Mix, Stub: r.options.Stub, Transport: l.Transport}
		for client := from; client < to; client++ {
			c.Clients = append(c.Clients, r.Bench.Network(client))
		}
		configs, first = append(configs, c), append(first, from)
	}
	return configs, first
}

// first reports whether a client is one of those that the scenario's first load
// of two has.
func (r *Run) first(client int) bool { return client < r.Bench.Clients()/2 }

// warm asks for a while and forgets it.
func (r *Run) warm(ctx context.Context) error {
	r.options.say("warming up")
	configs, _ := r.configs()
	errs := make([]error, len(configs))
	var all sync.WaitGroup
	for i, c := range configs {
		c.Duration, c.Discard = cmp.Or(r.options.Warm, warmFor), true
		all.Go(func() { _, errs[i] = load.Run(ctx, c) })
	}
	all.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// ask begins to ask; the end of ctx ends it too.
func (r *Run) ask(ctx context.Context) *asking {
	configs, first := r.configs()
	a := &asking{answers: map[string]int{}, parts: make([][]load.Record, len(configs)),
		errs: make([]error, len(configs))}
	ctx, a.stop = context.WithCancel(ctx)
	for i, c := range configs {
		c.Record = a.note
		a.done.Go(func() {
			a.parts[i], a.errs[i] = load.Run(ctx, c)
			for j := range a.parts[i] {
				a.parts[i][j].Client += first[i]
			}
		})
	}
	return a
}

// note counts an answer.
func (a *asking) note(rec load.Record) {
	if rec.Lost() || rec.Node == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[rec.Node]++
}

// nodes are the answers by node so far.
func (a *asking) nodes() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.answers)
}

// end stops asking, waits for the last question, and returns all records in the
// order of intended times, numbered anew.
func (a *asking) end() ([]load.Record, error) {
	a.stop()
	a.done.Wait()
	all := slices.Concat(a.parts...)
	slices.SortStableFunc(all, func(x, y load.Record) int {
		return cmp.Or(x.Intended.Compare(y.Intended), cmp.Compare(x.Client, y.Client))
	})
	for i := range all {
		all[i].Seq = i
	}
	return all, errors.Join(a.errs...)
}
