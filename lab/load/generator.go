package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Run sends questions until the duration is over or ctx ends, waits for the end
// of those under way, and returns all records in the order of intended times.
// The end of ctx is no error: what was sent is counted.
func Run(ctx context.Context, c Config) ([]Record, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("failed to run load: %w", err)
	}
	c = c.withDefaults()
	if c.Transport != UDP {
		return nil, fmt.Errorf("failed to run load: transport %s is not there yet", c.Transport)
	}
	mix, err := c.Mix.entries()
	if err != nil {
		return nil, fmt.Errorf("failed to run load: %w", err)
	}
	r := run{config: c, start: time.Now()}
	timeout := c.Stub.New(len(c.Servers)).Timeout()
	for i := 0; r.wait(ctx, i); i++ {
		client := i % len(c.Clients)
		e, n := pick(mix, client, i/len(c.Clients))
		r.begin(i, client, Question{Name: e.fill(n), Type: e.qtype}, timeout)
	}
	r.underWay.Wait()
	return r.records, nil
}

// run is the state of one run.
type run struct {
	config   Config
	start    time.Time
	underWay sync.WaitGroup

	mu      sync.Mutex // guards records and serialises Record
	records []Record
}

// intended is when question i is due. It is computed from the start each time,
// so that no rounding adds up.
func (r *run) intended(i int) time.Time {
	return r.start.Add(time.Duration(float64(i) / r.config.Rate * float64(time.Second)))
}

// wait waits until question i is due; false if it is not to be asked any more.
func (r *run) wait(ctx context.Context, i int) bool {
	at := r.intended(i)
	if d := r.config.Duration; d > 0 && at.Sub(r.start) >= d {
		return false
	}
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin puts question i without waiting for its end.
func (r *run) begin(i, client int, q Question, timeout time.Duration) {
	r.mu.Lock()
	r.records = append(r.records, Record{})
	r.mu.Unlock()
	r.underWay.Go(func() {
		c := r.config
		rec := Record{Seq: i, Client: client, Intended: r.intended(i), Question: q,
			Answer: ask(c.Servers[0], timeout, c.Clients[client].DialUDP, q)}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.records[i] = rec
		if c.Record != nil {
			c.Record(rec)
		}
	})
}
